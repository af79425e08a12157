"""Forecasts and experiments stored so far were computed without node constraints and rates of single queues."""

from typing import Any

from django.db import migrations


def state_no_constraints(apps: Any, schema_editor: Any) -> None:
    """State in all of them that there are none, so that repeating them gives the same result."""
    for forecast in apps.get_model("planner", "Forecast").objects.only("options").iterator():
        forecast.options = {"node_constraints": "none", "rates": {}, **forecast.options}
        forecast.save(update_fields=["options"])
    for experiment in apps.get_model("planner", "Experiment").objects.only("written").iterator():
        if "forecast" in experiment.written:
            kept = {"node_constraints": "none", **experiment.written["forecast"]}
            experiment.written = {**experiment.written, "forecast": kept}
            experiment.save(update_fields=["written"])


class Migration(migrations.Migration):
    dependencies = [("planner", "0053_plainer_help_texts")]

    operations = [migrations.RunPython(state_no_constraints, migrations.RunPython.noop, elidable=True)]
