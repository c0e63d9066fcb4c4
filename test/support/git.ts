import { env } from "cloudflare:workers";

import { type ByteText, decodeText, readByteText } from "../../src/git/byte-text.ts";
import { parseCommit } from "../../src/git/object/commit.ts";
import { parseTree } from "../../src/git/object/tree.ts";
import { GitStorage } from "../../src/storage/storage.ts";

/** The same storage that the Worker uses. */
export const git = new GitStorage(env.PACKS, env.REPOSITORY);

/** What a branch holds, read from storage: its commit, and the files at its root by name. */
export async function readBranch(repoId: number, branch: string) {
  const stored = git.repository(repoId);
  const snapshot = await stored.snapshot();
  const { objects } = await stored.open(snapshot);
  const read = async (oid: string) => {
    const found = await objects.readObject(oid);
    if (!found) throw new Error(`${oid} is not there`);
    return found.content;
  };
  const ref = snapshot.refs.find(({ name }) => text(name) === `refs/heads/${branch}`);
  if (!ref) throw new Error(`there is no branch ${branch}`);
  const commit = parseCommit(await read(ref.oid));
  const files: Record<string, string> = {};
  for (const { name, oid } of parseTree(await read(commit.treeOid))) {
    files[text(name)] = text(readByteText(await read(oid)));
  }
  return { oid: ref.oid, head: snapshot.head, commit, files };
}

const text = (bytes: string): string => decodeText(bytes as ByteText);
