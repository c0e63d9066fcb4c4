import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { packageVersions } from "../../src/db/schema/index.ts";
import { Writes } from "../../src/lib/writes.ts";
import { makePublication } from "../registries/npm/documents.ts";
import { type Sending, visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { startSession } from "../support/sessions.ts";
import { doorsWith } from "../support/service.ts";
import { loggedAgain } from "../support/usage.ts";

// Answers to anonymous readers are kept for seconds, until the isolate writes.

let owner: TestUser;
let repo: TestRepo;
let path: string;

beforeAll(async () => {
  owner = await make.user();
  repo = await make.repo(owner, { description: "0" });
  path = `/api/v1/repos/${owner.name}/${repo.name}`;
});

/** A service that knows of no writes, as those of jobs that other tests have left. */
const unwritten = () => doorsWith({ PACKAGES_DOWNLOAD_COUNT_SECONDS: "0" }, {}, new Writes());

/** Whether the second of two equal requests is answered from what is kept. */
async function isKept(at: string, sending: Sending = {}): Promise<boolean> {
  const door = unwritten();
  await door("GET", at, sending);
  const { line } = await loggedAgain(() => door("GET", at, sending));
  return "answer" in line;
}

/** The downloads of a version of an owner that are counted. */
async function downloadsOf({ id }: TestUser, version: string): Promise<number | undefined> {
  const isVersion = and(eq(packageVersions.ownerId, id), eq(packageVersions.version, version));
  const [row] = await db.select().from(packageVersions).where(isVersion);
  return row?.downloadCount;
}

describe("a kept answer", () => {
  it("is the same as the first, but for its id", async () => {
    for (const at of [path, `/${owner.name}/${repo.name}`, "/explore/users"]) {
      const [first, second] = [await visit("GET", at), await visit("GET", at)];
      expect(second.body).toEqual(first.body);
      const headersOf = ({ headers }: typeof first) =>
        [...headers].filter(([name]) => name !== "x-request-id" && name !== "content-length");
      expect(headersOf(second)).toEqual(headersOf(first));
      expect(second.headers.get("X-Request-Id")).not.toBe(first.headers.get("X-Request-Id"));
    }
  });

  it("has a tag, by which a reader who has it gets nothing again", async () => {
    const { headers } = await visit("GET", path);
    const tag = headers.get("ETag") ?? "";
    expect(tag).toMatch(/^W\/"[0-9a-f]{40}"$/);
    const again = await visit("GET", path, { headers: { "If-None-Match": tag } });
    expect(again.status).toBe(304);
    expect(again.body).toBe("");
    expect(again.headers.get("ETag")).toBe(tag);

    await visit("PATCH", path, { as: owner, json: { description: "other" } });
    const changed = await visit("GET", path, { headers: { "If-None-Match": tag } });
    expect(changed.status).toBe(200);
    expect(changed.body.description).toBe("other");
  });

  it("answers HEAD, without a body", async () => {
    const door = unwritten();
    await door("GET", path);
    const { answer, line } = await loggedAgain(() => door("HEAD", path));
    expect(line).toMatchObject({
      method: "HEAD",
      answer: "kept",
      route: "/api/v1/repos/:owner/:repo",
    });
    expect(answer.body).toBe("");
  });

  it("is that of a repository, of its page, of a list and of the version", async () => {
    const paths = [path, `/${owner.name}/${repo.name}`, `/api/v1/users/${owner.name}/repos?page=1`];
    for (const at of [...paths, "/api/v1/version"]) expect(await isKept(at), at).toBe(true);
  });

  it("is none for a request with a credential, a bookmark or a cookie", async () => {
    expect(await isKept(path, { as: owner })).toBe(false);
    expect(await isKept(path, { headers: { "x-d1-bookmark": "first-primary" } })).toBe(false);
    const headers = await startSession(owner);
    expect(await isKept(`/${owner.name}/${repo.name}`, { headers })).toBe(false);
  });

  it("is that of an index of packages and of a file, whose downloads are counted", async () => {
    const packages = `/api/packages/${owner.name}`;
    const json = await makePublication("kept", "1.0.0");
    const at = `${packages}/npm/kept`;
    expect((await visit("PUT", at, { as: owner, json })).status).toBe(201);
    const file = `${packages}/generic/kept/1/file`;
    expect((await visit("PUT", file, { as: owner, body: "bytes" })).status).toBe(201);
    expect(await isKept(at)).toBe(true);

    const door = unwritten();
    const first = await door("GET", file);
    const { answer, line } = await loggedAgain(() => door("GET", file));
    expect(line).toHaveProperty("answer", "kept");
    expect(answer.body).toBe("bytes");
    expect(answer.headers.get("ETag")).toBe(first.headers.get("ETag"));
    await door("HEAD", file);
    await expect.poll(() => downloadsOf(owner, "1")).toBe(2);
  });

  it("is none of a file that is long", async () => {
    const file = `/api/packages/${owner.name}/generic/long/1/file`;
    const body = new Uint8Array(256 * 1024 + 1);
    expect((await visit("PUT", file, { as: owner, body })).status).toBe(201);
    expect(await isKept(file)).toBe(false);
  });

  it.for([
    ["a search, which is counted", "/api/v1/repos/search?q=a"],
    ["the health check", "/api/healthz"],
    ["a page with a form", "/user/login"],
    ["a token", "/v2/token"],
    ["what is not found", "/api/v1/repos/nobody/nothing"],
  ])("is not that of %s", async ([, at]) => {
    expect(await isKept(at ?? "")).toBe(false);
  });

  it("differs by origin and by what the reader accepts", async () => {
    const door = unwritten();
    await door("GET", path);
    const { answer, line } = await loggedAgain(() =>
      door("GET", path, { headers: { Origin: "https://other.example" } }),
    );
    expect(line).not.toHaveProperty("answer");
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
  });

  it("ends with a commit", async () => {
    const at = `${path}/contents/`;
    const file = { as: owner, json: { content: btoa("a"), message: "a" } };
    expect((await visit("POST", `${path}/contents/a`, file)).status).toBe(201);
    expect((await visit("GET", at)).body).toHaveLength(1);
    expect((await visit("GET", at)).body).toHaveLength(1);
    expect((await visit("POST", `${path}/contents/b`, file)).status).toBe(201);
    expect((await visit("GET", at)).body).toHaveLength(2);
  });
});

it("no reader sees less than what was written before they asked", async () => {
  let acknowledged = 0;
  let written = 0;
  const read = async (): Promise<void> => {
    const least = acknowledged;
    const { body } = await visit("GET", path);
    expect(Number(body.description)).toBeGreaterThanOrEqual(least);
  };
  const write = async (): Promise<void> => {
    written += 1;
    const value = written;
    await visit("PATCH", path, { as: owner, json: { description: String(value) } });
    acknowledged = value;
  };
  await write();
  let seed = 37;
  const draw = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  let writing = Promise.resolve();
  const reading: Promise<void>[] = [];
  for (let step = 0; step < 120; step += 1) {
    // Writes come one after the other, reads at any time among them.
    if (draw(5) === 0) writing = writing.then(write);
    else reading.push(read());
    if (draw(3) === 0) await Promise.race([writing, reading.at(-1)]);
  }
  await Promise.all([writing, ...reading]);
  expect(acknowledged).toBeGreaterThan(10);
});
