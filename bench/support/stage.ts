import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runScript } from "../../scripts/refusal.ts";
import { onStopSignal } from "../../scripts/serve/signals.ts";

/** Something that has to end with the benchmark. */
type Closable = { close: () => Promise<void> };

/** Where a benchmark runs. Functions rather than methods: they may be handed on. */
export type Stage = {
  /** For whatever is written: it goes when the benchmark ends. */
  directory: string;
  /** Sees to it that what is being opened is closed at the end. */
  opened: <Opened extends Closable>(opening: Opened | Promise<Opened>) => Promise<Opened>;
  closed: (one: Closable) => Promise<void>;
};

/** Runs a benchmark. Nothing of it stays behind, after Ctrl-C and after a failure too. */
export async function onStage(bench: (stage: Stage) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "edgeforge-bench-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));

  const open = new Set<Closable>();
  const stage: Stage = {
    directory,
    opened: async (opening) => {
      const one = await opening;
      open.add(one);
      return one;
    },
    closed: async (one) => {
      open.delete(one);
      await one.close();
    },
  };
  const closeAll = async (): Promise<void> => {
    for (const one of open) await stage.closed(one);
  };

  let isStopping = false;
  onStopSignal(() => {
    isStopping = true;
    void closeAll().finally(() => process.exit(130));
  });
  await runScript(async () => {
    try {
      await bench(stage);
    } catch (error) {
      // What was under way when the servers stopped had to fail.
      if (!isStopping) throw error;
    } finally {
      await closeAll();
    }
  });
}
