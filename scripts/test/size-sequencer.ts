import { statSync } from "node:fs";
import { relative } from "node:path";

import { BaseSequencer, type TestSpecification } from "vitest/node";

import { divide } from "./divide.ts";

/** Divides a run into shards whose files are about equally long: long files tend to take longer. */
export class SizeSequencer extends BaseSequencer {
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, shard } = this.ctx.config;
    if (!shard) return files;
    const nameOf = ({ moduleId }: TestSpecification): string => relative(root, moduleId);
    const weights = new Map(files.map((file) => [nameOf(file), statSync(file.moduleId).size]));
    const own = new Set(divide(weights, shard.count)[shard.index - 1]);
    return files.filter((file) => own.has(nameOf(file)));
  }
}
