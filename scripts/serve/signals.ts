const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls `stop` at the first signal to end. */
export function onStopSignal(stop: () => void): void {
  let isStopping = false;
  for (const signal of signals) {
    process.on(signal, () => {
      // More than one comes: a terminal sends Ctrl-C to npm and to us, and npm passes it on.
      if (!isStopping) stop();
      isStopping = true;
    });
  }
}

/** Removes the signal handlers that `make` installs: Miniflare's end the process before it can finish. */
export function keepSignals<Made>(make: () => Made): Made {
  const before = signals.map((signal) => new Set(process.listeners(signal)));
  const made = make();
  for (const [index, signal] of signals.entries()) {
    for (const listener of process.listeners(signal)) {
      if (!before[index]?.has(listener)) process.off(signal, listener);
    }
  }
  return made;
}
