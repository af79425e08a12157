"""The forms of forecasts."""
