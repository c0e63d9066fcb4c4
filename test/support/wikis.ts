import { History } from "./commits.ts";
import type { TestRepo } from "./make.ts";
import { storeRefs } from "./push.ts";

/**
 * Stores a wiki with some files by one commit, as if it was imported.
 *
 * @param files By path, as `Home.md`.
 * @returns The id of the commit.
 */
export async function storeWiki(
  repo: TestRepo,
  files: Readonly<Record<string, string>>,
  branch = "main",
): Promise<string> {
  const history = new History();
  const oid = history.commit({ files, message: "Write the wiki\n" });
  await storeRefs(repo, [{ ref: `refs/heads/${branch}`, oid }], history.build(), true);
  return oid;
}
