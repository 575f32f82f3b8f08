"""Learn codes from clicks, or rotate and rescore? One measured answer for documents, queries and clicks."""

from ohash.advice.click_log import ClickLog, click_log
from ohash.advice.params import AdviceParams
from ohash.advice.results import AdviceSnapshot
from ohash.advice.runner import AdviceRunner
from ohash.advice.verdict import verdict

__all__ = ["AdviceParams", "AdviceRunner", "AdviceSnapshot", "ClickLog", "click_log", "verdict"]
