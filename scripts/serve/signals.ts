const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls `stop` at the first termination signal. */
export function onStopSignal(stop: () => void): void {
  let isStopping = false;
  for (const signal of signals) {
    process.on(signal, () => {
      // There may be several: a terminal sends Ctrl-C to npm and to this process, and npm forwards
      // it.
      if (!isStopping) stop();
      isStopping = true;
    });
  }
}

/**
 * Calls `make` and removes the signal handlers that it installs: Miniflare's end the process too
 * early.
 */
export function withoutSignalHandlers<Result>(make: () => Result): Result {
  const before = signals.map((signal) => new Set(process.listeners(signal)));
  const result = make();
  for (const [index, signal] of signals.entries()) {
    for (const listener of process.listeners(signal)) {
      if (!before[index]?.has(listener)) process.off(signal, listener);
    }
  }
  return result;
}
