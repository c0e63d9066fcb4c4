import { readFileSync } from "node:fs";

import { z } from "zod";

import { inProject } from "../../../scripts/project.ts";

const LIST = "test/support/shards/with-shards.json";

/** What tests of the Worker with shards leave out, or expect to fail. */
const List = z.object({
  /** Files about one database, or about databases of their own, by path: the reason why they do not run. */
  files: z.record(z.string(), z.string()),
  /** Tests that fail: a test that passes unexpectedly fails. */
  tests: z.array(
    z.object({
      file: z.string(),
      /** The beginning of its name, with the names of its suites before it: `suite > test`. */
      test: z.string(),
      why: z.string(),
    }),
  ),
});

type WithShards = z.infer<typeof List>;

/** A test that fails with shards. */
export type KnownFailure = WithShards["tests"][number];

export const readWithShards = (): WithShards =>
  List.parse(JSON.parse(readFileSync(inProject(LIST), "utf8")));

/** Prints the files that do not run with shards, with the reasons, and returns their paths. */
export function printLeftOut({ files }: WithShards = { files: {}, tests: [] }): string[] {
  for (const [file, why] of Object.entries(files)) {
    process.stderr.write(`not run with shards: ${file}: ${why}\n`);
  }
  return Object.keys(files);
}
