import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

/** Describes the machine and its current load in one line. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = Math.round(totalmem() / 2 ** 30);
  const [load = 0] = loadavg();
  return `${availableParallelism()} cores (${model}), ${memory} GiB, Node ${process.versions.node}, ${process.platform} ${process.arch}, load ${load.toFixed(1)}`;
}
