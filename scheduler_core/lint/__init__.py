"""Lint of scenarios: findings on what Volcano refuses, what does harm, and what has surprising effects."""

from scheduler_core.lint.conf import conf_of, conf_problems
from scheduler_core.lint.dispatch import PluginCall, Question, questions
from scheduler_core.lint.remedies import remedy
from scheduler_core.lint.review import REFUSED, review

__all__ = ["REFUSED", "PluginCall", "Question", "conf_of", "conf_problems", "questions", "remedy", "review"]
