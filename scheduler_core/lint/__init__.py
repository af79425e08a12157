"""What in a scenario would Volcano refuse, accept to its harm, or do otherwise than it seems?"""

from scheduler_core.lint.conf import conf_of, conf_problems
from scheduler_core.lint.dispatch import PluginCall, Question, questions
from scheduler_core.lint.remedies import remedy
from scheduler_core.lint.review import REFUSED, review

__all__ = ["REFUSED", "PluginCall", "Question", "conf_of", "conf_problems", "questions", "remedy", "review"]
