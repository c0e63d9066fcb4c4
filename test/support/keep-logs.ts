import { afterEach } from "vitest";

declare global {
  /** Lines of the service's log since the last test, in the isolate of all files. */
  var keptLogs: string[] | undefined;
}

// Each line that is printed is a call to Node: those of tests that pass are not needed there.
if (!globalThis.keptLogs) {
  const kept: string[] = (globalThis.keptLogs = []);
  const { log } = console;
  console.log = (...args: unknown[]) => {
    const isLine = args.length === 1 && typeof args[0] === "string" && args[0].startsWith("{");
    if (isLine) kept.push(args[0] as string);
    else log(...args);
  };
}

afterEach(({ task }) => {
  const lines = globalThis.keptLogs?.splice(0) ?? [];
  if (task.result?.state === "fail") for (const line of lines) console.info(line);
});
