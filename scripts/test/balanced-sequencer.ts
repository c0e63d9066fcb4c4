import { relative } from "node:path";

import { BaseSequencer, type TestSpecification } from "vitest/node";

import { divide } from "./divide.ts";
import { readLedger } from "./ledger.ts";

/** Divides a run into shards of about the same CPU time, according to the ledger. */
export class BalancedSequencer extends BaseSequencer {
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, shard } = this.ctx.config;
    if (!shard) return files;
    const ledger = await readLedger();
    const weights = new Map(Object.entries(ledger).map(([file, { cpuMs }]) => [file, cpuMs]));
    const nameOf = ({ moduleId }: TestSpecification): string => relative(root, moduleId);
    const own = new Set(divide(files.map(nameOf), weights, shard.count)[shard.index - 1]);
    return files.filter((file) => own.has(nameOf(file)));
  }
}
