import { beforeAll, describe, expect, it } from "vitest";

import { TOKEN_HEADER } from "../../../src/git-http/lfs/transfer-token.ts";
import type { Answer } from "../../support/call.ts";
import {
  askBatch,
  askLfs,
  makeLargeFile,
  type TestFile,
  upload,
} from "../../support/large-files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { doorsWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";

// As test/api/prepared.test.ts: what the first request of a read has built, later ones bind.

const serve = doorsWith({ SEALING_KEYS: `test:${"A".repeat(43)}=` });

/** A repository with a stored file and a lock. */
interface Stored {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  readonly file: TestFile;
  readonly lockId: string;
  /** Of a batch, for the download of the file. */
  readonly token: string;
}

async function makeStored(): Promise<Stored> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const file = makeLargeFile(freshName("large"));
  expect((await upload(owner, repo, file, serve)).status).toBe(200);
  const lock = await askLfs("POST", repo, "locks", { as: owner, json: { path: "a.psd" } }, serve);
  const batch = await askBatch(repo, "download", [pointerTo(file)], { as: owner }, serve);
  const [object] = batch.body.objects;
  const token: string = object.actions.download.header[TOKEN_HEADER];
  return { owner, repo, file, lockId: lock.body.lock.id, token };
}

const pointerTo = ({ oid, size }: TestFile) => ({ oid, size });

const READS: Readonly<Record<string, (stored: Stored) => Promise<Answer>>> = {
  "a batch of downloads": ({ owner, repo, file }) =>
    askBatch(repo, "download", [pointerTo(file)], { as: owner }, serve),
  "an anonymous batch of two downloads": ({ repo, file }) =>
    askBatch(repo, "download", [pointerTo(file), pointerTo(makeLargeFile("none"))], {}, serve),
  "a batch of uploads": ({ owner, repo, file }) =>
    askBatch(repo, "upload", [pointerTo(file)], { as: owner }, serve),
  "a download": ({ owner, repo, file }) =>
    askLfs("GET", repo, `objects/${file.oid}`, { as: owner }, serve),
  "an anonymous download": ({ repo, file }) =>
    askLfs("GET", repo, `objects/${file.oid}`, {}, serve),
  "a download by the token of a batch": ({ repo, file, token }) =>
    askLfs("GET", repo, `objects/${file.oid}`, { headers: { [TOKEN_HEADER]: token } }, serve),
  "the check of an upload": ({ owner, repo, file }) =>
    askLfs("POST", repo, "verify", { as: owner, json: pointerTo(file) }, serve),
  "a list of locks": ({ owner, repo }) => askLfs("GET", repo, "locks", { as: owner }, serve),
  "a list of the locks of a path": ({ owner, repo }) =>
    askLfs("GET", repo, "locks?path=a.psd&limit=1", { as: owner }, serve),
  "a lock by its id": ({ owner, repo, lockId }) =>
    askLfs("GET", repo, `locks?id=${lockId}`, { as: owner }, serve),
  "the check of locks before a push": ({ owner, repo }) =>
    askLfs("POST", repo, "locks/verify", { as: owner, json: {} }, serve),
};

describe("the SQL of reads of large files", () => {
  let first: Stored;
  let second: Stored;

  beforeAll(async () => {
    [first, second] = [await makeStored(), await makeStored()];
  });

  it.each(Object.entries(READS))("is built once and bound for others: %s", async (_, read) => {
    expect((await read(first)).status).toBe(200);
    const { answer, line } = await logged(() => read(second));
    expect(answer.status).toBe(200);
    expect(line.sqlBuilds).toBe(0);
  });
});
