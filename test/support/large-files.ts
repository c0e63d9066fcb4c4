import { createHash } from "node:crypto";

import { exports } from "cloudflare:workers";
import { asc, eq } from "drizzle-orm";

import { lfsLooseFiles, lfsObjects, repositories } from "../../src/db/schema/index.ts";
import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { only } from "../../src/lib/only.ts";
import type { RepositoryLocation } from "../../src/storage/repository-records.ts";
import { type Answer, type Sending, visit as visitAsIs } from "./call.ts";
import { db } from "./db.ts";
import type { TestRepo, TestUser } from "./make.ts";
import { filesOf } from "./push.ts";

export const MEDIA_TYPE = "application/vnd.git-lfs+json";

/** A file for Git LFS. */
export interface TestFile {
  bytes: Uint8Array<ArrayBuffer>;
  oid: string;
  size: number;
}

export function makeLargeFile(content: string | Uint8Array): TestFile {
  const bytes = new Uint8Array(typeof content === "string" ? encodeUtf8(content) : content);
  return { bytes, oid: createHash("sha256").update(bytes).digest("hex"), size: bytes.length };
}

type RepoPath = Pick<TestRepo, "owner" | "name">;

export const pathTo = ({ owner, name }: RepoPath, rest: string): string =>
  `/${owner}/${name}.git/info/lfs/${rest}`;

/** Sends a request of a Git LFS client, and parses its response. */
export async function askLfs(
  method: string,
  repo: RepoPath,
  rest: string,
  { json, headers, ...sending }: Sending = {},
  visit = visitAsIs,
): Promise<Answer> {
  const answer = await visit(method, pathTo(repo, rest), {
    ...sending,
    ...(json !== undefined && { body: JSON.stringify(json) }),
    headers: { Accept: MEDIA_TYPE, "Content-Type": MEDIA_TYPE, ...headers },
  });
  const isJson = answer.headers.get("Content-Type") === MEDIA_TYPE;
  return isJson ? { ...answer, body: JSON.parse(answer.body) } : answer;
}

export const askBatch = (
  repo: RepoPath,
  operation: string,
  objects: object[],
  sending: Sending = {},
  visit = visitAsIs,
): Promise<Answer> =>
  askLfs("POST", repo, "objects/batch", { ...sending, json: { operation, objects } }, visit);

export const upload = (
  as: Pick<TestUser, "token">,
  repo: RepoPath,
  file: TestFile,
  visit = visitAsIs,
): Promise<Answer> =>
  askLfs("PUT", repo, `objects/${file.oid}/${file.size}`, { as, body: file.bytes }, visit);

/** Gets a path as bytes. */
export async function fetchBytes(path: string, init: RequestInit = {}, as?: { token: string }) {
  const headers = new Headers(init.headers);
  if (as) headers.set("Authorization", `token ${as.token}`);
  const request = new Request(`https://forge.example${path}`, { ...init, headers });
  const { status, headers: responseHeaders, body } = await exports.default.fetch(request);
  const bytes = new Uint8Array(await new Response(body).arrayBuffer());
  return { status, headers: responseHeaders, bytes };
}

export const fetchObject = (
  repo: RepoPath,
  oid: string,
  init?: RequestInit,
  as?: { token: string },
) => fetchBytes(pathTo(repo, `objects/${oid}`), init, as);

/** The LFS objects of a repository, ordered by oid. */
export const objectsOf = ({ id }: { id: number }) =>
  db.select().from(lfsObjects).where(eq(lfsObjects.repoId, id)).orderBy(asc(lfsObjects.oid));

/** The loose files of a network, which no repository references. */
export const looseOf = ({ networkName }: RepositoryLocation) =>
  db.select().from(lfsLooseFiles).where(eq(lfsLooseFiles.networkName, networkName));

/** Keys of the large files of a network. */
export const largeFilesOf = async (repo: RepositoryLocation): Promise<string[]> =>
  (await filesOf(repo)).filter((key) => key.includes("/lfs/"));

/** The size of LFS objects in a repository's row, in bytes. */
export async function lfsSizeOf({ id }: { id: number }): Promise<number> {
  const { lfsSizeBytes } = repositories;
  return only(await db.select({ lfsSizeBytes }).from(repositories).where(eq(repositories.id, id)))
    .lfsSizeBytes;
}

export const pointerTo = ({ oid, size }: TestFile): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
