"""Calls in forked processes that are ended while they run."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections.abc import Callable

from tests.attack.children import where

#: exit status of a process that was interrupted outside of the call
INTERRUPTED = 4
_CAUGHT = {signal.SIGINT, signal.SIGTERM}


def forked(call: Callable[[], int], patience: int, sent: signal.Signals | None = None, after: float = 0.0) -> int:
    """The exit status of a forked process, negative for the signal that ended it: the one that is sent, or an alarm."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _CAUGHT)  # until somebody is there to catch them
    with warnings.catch_warnings():  # Python warns where other threads are
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _CAUGHT)
            signal.alarm(patience)
            status = call()
            signal.pthread_sigmask(signal.SIG_BLOCK, _CAUGHT)  # nothing is left to interrupt
        except KeyboardInterrupt:
            status = INTERRUPTED
        except BaseException as error:
            print(where(error), file=sys.stderr)
        finally:
            os._exit(status)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _CAUGHT)
    if sent is not None:
        time.sleep(after)
        os.kill(child, sent)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
