"""The exceptions of the core."""


class CoreError(Exception):
    """Base of all exceptions that the core raises on purpose."""


class InputError(CoreError):
    """The scenario cannot be simulated; the message names the object and the field."""


class ConfError(InputError):
    """Volcano rejects the scheduler configuration as a whole."""


class SchedulerPanic(CoreError):
    """Real Volcano would crash here (a failed assertion or a nil pointer)."""


class SchedulerHang(CoreError):
    """Real Volcano would never end the session."""


class EventError(CoreError):
    """An event handler refused an allocation; the statement rolls back the operation."""


class ScoreError(CoreError):
    """A batch score failed: no candidate gets a score."""


class PrePredicateError(CoreError):
    """A pre-predicate failed: the task fits no node in this attempt."""


class RegistrationError(CoreError):
    """A plugin registered something that cannot be called; the message names plugin, point and fix."""
