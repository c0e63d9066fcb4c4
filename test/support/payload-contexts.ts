import { OWNER_PERMISSION, type Repository, type User } from "../../src/db/schema/index.ts";
import type { PayloadContext } from "../../src/events/webhooks/payloads/payload-context.ts";
import { toReceiver } from "../../src/events/webhooks/payloads/receiver.ts";
import { encodeText } from "../../src/git/byte-text.ts";
import type { Identity } from "../../src/git/object/identity.ts";
import { EMPTY_TREE_OID } from "../../src/git/oid.ts";
import type { CommitFile } from "../../src/shapes/git/commit.ts";
import type { PushedCommitEntry } from "../../src/shapes/git/payload-commit.ts";
import { make } from "./make.ts";

export const ROOT_URL = "https://forge.example";

/** The payload context of an event in a fresh repository, caused by its owner. */
export async function makeOccasion({
  owner: ownerFields = {},
  repo: repoFields = {},
}: { owner?: Partial<User>; repo?: Partial<Repository> } = {}): Promise<PayloadContext> {
  const owner = await make.user(ownerFields);
  const repo = await make.repo(owner, repoFields);
  return {
    repo: { row: repo, owner, permission: OWNER_PERMISSION },
    sender: owner,
    viewer: toReceiver({ rootUrl: ROOT_URL, noReplyDomain: "noreply.forge.example" }),
  };
}

/** The object id that ends in `number`, in hexadecimal. */
export const oidOf = (number: number): string => number.toString(16).padStart(40, "0");

/** A pushed commit as the service reads it; by default, with one file of each status. */
export function makeCommit(
  number: number,
  {
    message = `Change ${number}\n`,
    authorName = "Ada",
    files = [
      { path: "new.txt", status: "added" },
      { path: "old.txt", status: "removed" },
      { path: "same.txt", status: "modified" },
    ],
  }: {
    message?: string;
    authorName?: string;
    files?: { path: string; status: CommitFile["status"] }[] | undefined;
  } = {},
): PushedCommitEntry {
  const identity: Identity = {
    name: encodeText(authorName),
    email: encodeText("ada@example.com"),
    timeSeconds: 1_700_000_000,
    zone: "+0200",
  };
  return {
    commitOid: oidOf(number),
    commit: {
      treeOid: EMPTY_TREE_OID,
      parentOids: [],
      author: identity,
      committer: identity,
      headers: [],
      message: encodeText(message),
    },
    author: undefined,
    committer: undefined,
    files: files.map(({ path, status }) => ({ path: encodeText(path), status })),
  };
}
