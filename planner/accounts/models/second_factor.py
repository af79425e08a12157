"""Second factors: authenticator apps and recovery codes."""

from django.conf import settings
from django.db import models


class SecondFactor(models.Model):
    """The authenticator app of an account, active after its first correct code."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="second_factor"
    )
    sealed = models.CharField(max_length=200, help_text="The secret, encrypted under the server's key.")
    confirmed = models.DateTimeField(null=True)
    last_step = models.BigIntegerField(
        default=0, help_text="The time step of the last accepted code; each code is accepted once."
    )

    def __str__(self) -> str:
        return f"second factor of {self.user}"


class RecoveryCode(models.Model):
    """A single-use code that replaces a lost authenticator."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recovery_codes"
    )
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the code.")
    used = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"recovery code of {self.user}"
