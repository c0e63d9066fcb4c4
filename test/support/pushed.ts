import type { User } from "../../src/db/schema/index.ts";
import { make, type TestUser } from "./make.ts";
import { makeCommit, storePush } from "./push.ts";

/** A repository with one commit on `main`. */
export async function makePushed(of?: User, by?: TestUser) {
  const owner = by ?? (await make.user());
  const repo = await make.repo(of ?? owner);
  const commit = makeCommit(repo.name);
  await storePush(repo, "refs/heads/main", commit.oid, commit.pack);
  return { owner, repo, commit };
}
