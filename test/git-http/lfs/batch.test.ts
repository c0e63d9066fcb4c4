import { describe, expect, it } from "vitest";

import { basic, call } from "../../support/call.ts";
import {
  askBatch,
  askLfs,
  largeFilesOf,
  looseOf,
  makeLargeFile,
  MEDIA_TYPE,
  objectsOf,
  upload,
} from "../../support/large-files.ts";
import { freshName, make } from "../../support/make.ts";
import { doorsWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";

const asPointer = ({ oid, size }: { oid: string; size: number }) => ({ oid, size });

async function makeStored() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const file = makeLargeFile(freshName("large"));
  expect((await upload(owner, repo, file)).status).toBe(200);
  return { owner, repo, file };
}

describe("POST /objects/batch", () => {
  it("returns upload URLs for missing files, with a token for each that lasts for a while", async () => {
    const { owner, repo, file } = await makeStored();
    const missing = makeLargeFile("missing");
    const { status, headers, body } = await askBatch(
      repo,
      "upload",
      [file, missing].map(asPointer),
      { as: owner },
      doorsWith({ SEALING_KEYS: `test:${"A".repeat(43)}=` }),
    );
    expect([status, headers.get("Content-Type"), headers.get("Cache-Control")]).toEqual([
      200,
      MEDIA_TYPE,
      "no-store",
    ]);
    const base = `https://forge.example/${repo.owner}/${repo.name}.git/info/lfs`;
    const header = { "X-LFS-Transfer-Token": expect.stringMatching(/^1\.test\.[\w+/]+=*$/) };
    expect(body).toEqual({
      objects: [
        asPointer(file),
        {
          ...asPointer(missing),
          authenticated: true,
          actions: {
            upload: { href: `${base}/objects/${missing.oid}/7`, header, expires_in: 900 },
            verify: {
              href: `${base}/verify`,
              header: { ...header, Accept: MEDIA_TYPE },
              expires_in: 87_300,
            },
          },
        },
      ],
    });
  });

  it("returns download URLs for stored files, to anonymous callers too if the repository is public", async () => {
    const { repo, file } = await makeStored();
    const missing = makeLargeFile("missing");
    const wrong = { oid: file.oid, size: file.size + 1 };
    const { status, body } = await askBatch(repo, "download", [
      asPointer(file),
      asPointer(missing),
      wrong,
    ]);
    const href = `https://forge.example/${repo.owner}/${repo.name}.git/info/lfs/objects/${file.oid}`;
    expect([status, body]).toEqual([
      200,
      {
        objects: [
          {
            ...asPointer(file),
            actions: {
              download: { href, header: { "x-d1-bookmark": expect.stringMatching(/./) } },
            },
          },
          { ...asPointer(missing), error: { code: 404, message: "Not Found" } },
          {
            ...wrong,
            error: { code: 422, message: `Object ${file.oid} is not ${wrong.size} bytes` },
          },
        ],
      },
    ]);
  });

  it("builds URLs from ROOT_URL, regardless of the request's host", async () => {
    const { repo, file } = await makeStored();
    const visit = doorsWith({ ROOT_URL: "https://git.example" });
    const { body } = await askBatch(repo, "download", [asPointer(file)], {}, visit);
    expect(body.objects[0].actions.download.href).toMatch(
      /^https:\/\/git\.example\/[^/]+\/[^/]+\.git\/info\/lfs\//,
    );
  });

  it("works without .git too, and takes two round trips to D1", async () => {
    const { owner, repo, file } = await makeStored();
    const bare = { owner: repo.owner, name: repo.name };
    for (const operation of ["upload", "download"]) {
      const { line } = await logged(() =>
        askBatch(bare, operation, [asPointer(file)], { as: owner }),
      );
      expect(line).toMatchObject({ status: 200, d1Rounds: 2, objectCalls: 0, r2Calls: 0 });
    }
    const { body } = await askLfs("GET", bare, "locks", { as: owner });
    expect(body).toEqual({ locks: [] });
  });

  it("validates each file separately, including duplicates", async () => {
    const { owner, repo } = await makeStored();
    const { oid } = makeLargeFile("x");
    const invalid = [
      { oid: oid.toUpperCase(), size: 1 },
      { oid: oid.slice(1), size: 1 },
      { oid: `${oid}0`, size: 1 },
      { oid: `${oid.slice(0, 63)}g`, size: 1 },
      { oid: `../../${oid.slice(6)}`, size: 1 },
      { oid: `${oid.slice(0, 63)}\n`, size: 1 },
      { oid: "", size: 1 },
      { oid: "%2e%2e", size: 1 },
      { oid: "x".repeat(5000), size: 1 },
      { oid, size: -1 },
      { oid, size: 1.5 },
      { oid, size: 2 ** 53 },
      { oid, size: 1e300 },
    ];
    const error = { code: 422, message: "Oid or size are invalid" };
    for (const operation of ["upload", "download"]) {
      const good = { oid, size: 1 };
      const { status, body } = await askBatch(repo, operation, [good, ...invalid, good], {
        as: owner,
      });
      expect(status).toBe(200);
      const expected = invalid.map(({ oid: id, size }) => ({ oid: id, size, error }));
      expect(body.objects.slice(1, -1)).toEqual(expected);
      expect(body.objects.at(-1)).toEqual(body.objects[0]);
      expect(body.objects[0].error).toEqual(
        operation === "upload" ? undefined : { code: 404, message: "Not Found" },
      );
    }
    expect(await objectsOf(repo)).toHaveLength(1);
  });

  it("refuses an invalid batch", async () => {
    const { owner, repo, file } = await makeStored();
    const good = { operation: "upload", objects: [asPointer(file)] };
    const bodies = [
      "",
      "x",
      "null",
      "[]",
      '"upload"',
      "{",
      "{}",
      '{"operation":"upload"}',
      '{"operation":"upload","objects":{}}',
      '{"operation":"upload","objects":null}',
      '{"operation":"upload","objects":[null]}',
      '{"operation":"upload","objects":["x"]}',
      '{"operation":"upload","objects":[[]]}',
      `{"operation":"upload","objects":[{"oid":1,"size":1}]}`,
      `{"operation":"upload","objects":[{"oid":"x","size":"1"}]}`,
      `{"operation":"upload","objects":[{"oid":"x","size":1e999}]}`,
      `{"operation":"upload","objects":[{"oid":"x"}]}`,
      JSON.stringify({ ...good, operation: "delete" }),
      JSON.stringify({ ...good, operation: ["upload"] }),
      JSON.stringify({ ...good, hash_algo: 5 }),
      `{"operation":"upload","objects":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
      new Uint8Array([0xff, 0xfe, 0x7b]),
    ];
    for (const body of bodies) {
      const answer = await askLfs("POST", repo, "objects/batch", { as: owner, body });
      expect([body, answer.status, answer.body]).toEqual([
        body,
        400,
        { message: expect.any(String), request_id: expect.any(String) },
      ]);
    }
    const other = await askLfs("POST", repo, "objects/batch", {
      as: owner,
      json: { ...good, hash_algo: "sha512" },
    });
    expect(other.status).toBe(409);
    for (const extra of [
      { hash_algo: "sha256", transfers: ["tus", "basic"], ref: { name: "refs/heads/main" } },
      { hash_algo: null, transfers: null, ref: null, other: 1 },
    ]) {
      const json = { ...good, ...extra };
      expect((await askLfs("POST", repo, "objects/batch", { as: owner, json })).status).toBe(200);
    }
  });

  it("limits the files of a batch, the size of a file and the size of the body", async () => {
    const { owner, repo, file } = await makeStored();
    const visit = doorsWith({ LFS_MAX_BATCH_SIZE: "2", LFS_MAX_FILE_SIZE: "100" });
    const many = [file, file, file].map(asPointer);
    expect((await askBatch(repo, "upload", many, { as: owner }, visit)).status).toBe(413);
    expect((await askBatch(repo, "download", many, {}, visit)).status).toBe(413);
    const large = { oid: makeLargeFile("large").oid, size: 101 };
    const { body } = await askBatch(repo, "upload", [large], { as: owner }, visit);
    expect(body.objects[0].error).toEqual({
      code: 422,
      message: "Size must be less than or equal to 100",
    });
    // A stored file stays valid if the limit is lowered later.
    const small = doorsWith({ LFS_MAX_FILE_SIZE: "1" });
    const again = await askBatch(repo, "upload", [asPointer(file)], { as: owner }, small);
    expect(again.body.objects[0]).toEqual(asPointer(file));
    const tooLong = JSON.stringify({
      operation: "upload",
      objects: [],
      pad: "x".repeat(1_048_576),
    });
    const refused = await askLfs("POST", repo, "objects/batch", { as: owner, body: tooLong });
    expect(refused.status).toBe(413);
    const thousands = Array.from({ length: 5000 }, (_, at) => ({
      oid: at.toString(16).padStart(64, "0"),
      size: at,
    }));
    const listed = await askBatch(repo, "download", thousands);
    expect([listed.status, listed.body.objects.length]).toEqual([200, 5000]);
  });

  it("requires the Accept header of Git LFS", async () => {
    const { repo, file } = await makeStored();
    const json = { operation: "download", objects: [asPointer(file)] };
    const ask = async (Accept: string) =>
      (await askLfs("POST", repo, "objects/batch", { json, headers: { Accept } })).status;
    for (const accept of ["*/*", "application/json", "", `text/html, ${MEDIA_TYPE}`]) {
      expect([accept, await ask(accept)]).toEqual([accept, 415]);
    }
    for (const accept of [MEDIA_TYPE, `${MEDIA_TYPE}; charset=utf-8`]) {
      expect([accept, await ask(accept)]).toEqual([accept, 200]);
    }
  });
});

describe("an LFS refusal", () => {
  it("is 401 with a challenge for callers without write access, as in Gitea", async () => {
    const { owner, repo, file } = await makeStored();
    const reader = await make.user();
    for (const sending of [{}, { as: reader }, { headers: basic("nobody", "wrong") }]) {
      const { status, headers, body } = await askBatch(repo, "upload", [asPointer(file)], sending);
      expect([status, headers.get("WWW-Authenticate"), body]).toEqual([
        401,
        'Basic realm="gitea-lfs"',
        { message: expect.any(String), request_id: headers.get("X-Request-Id") },
      ]);
    }
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    expect((await askBatch(repo, "upload", [asPointer(file)], { as: writer })).status).toBe(200);
    const token = await make.token(owner, { scopes: "read:repository" });
    const narrow = await askBatch(repo, "upload", [asPointer(file)], { token });
    expect([narrow.status, narrow.body.message]).toEqual([403, "Forbidden"]);
    const other = await make.token(owner, { scopes: "write:issue" });
    expect((await askBatch(repo, "download", [asPointer(file)], { token: other })).status).toBe(
      403,
    );
  });

  it("is 403 if the repository is read-only for everybody", async () => {
    const owner = await make.user();
    const file = makeLargeFile(freshName("archived"));
    for (const fields of [{ archivedAt: 1000 }, { isMirror: true }]) {
      const repo = await make.repo(owner, fields);
      expect((await askBatch(repo, "upload", [asPointer(file)], { as: owner })).status).toBe(403);
      expect((await upload(owner, repo, file)).status).toBe(403);
      const lock = await askLfs("POST", repo, "locks", { as: owner, json: { path: "a" } });
      expect(lock.status).toBe(403);
      expect([await objectsOf(repo), await looseOf(repo), await largeFilesOf(repo)]).toEqual([
        [],
        [],
        [],
      ]);
      expect((await askBatch(repo, "download", [asPointer(file)])).status).toBe(200);
    }
  });

  it("is 404 on every route if LFS is disabled", async () => {
    const { owner, repo, file } = await makeStored();
    const visit = doorsWith({ LFS_START_SERVER: "false" });
    const asks: [string, string][] = [
      ["POST", "objects/batch"],
      ["GET", `objects/${file.oid}`],
      ["PUT", `objects/${file.oid}/${file.size}`],
      ["POST", "verify"],
      ["GET", "locks"],
    ];
    for (const [method, rest] of asks) {
      const answer = await askLfs(method, repo, rest, { as: owner }, visit);
      expect([rest, answer.status, answer.body.message]).toEqual([
        rest,
        404,
        "large files are not kept here",
      ]);
    }
    const settings = async (through: typeof visit) =>
      (await through("GET", "/api/v1/settings/repository")).body.lfs_disabled;
    expect([await settings(visit), await settings(doorsWith({}))]).toEqual([true, false]);
  });

  it("is 404 in the format of LFS for unknown routes, and a redirect after a rename", async () => {
    const { owner, repo } = await makeStored();
    for (const rest of ["", "objects", "locks/1", "objects/a/b/c", "nothing"]) {
      const { status, headers } = await askLfs("POST", repo, rest, { as: owner });
      expect([rest, status, headers.get("Content-Type")]).toEqual([rest, 404, MEDIA_TYPE]);
    }
    const name = freshName("renamed");
    await call("PATCH", `/repos/${repo.owner}/${repo.name}`, { as: owner, json: { name } });
    const { status, headers } = await askBatch(repo, "download", []);
    expect([status, headers.get("Location")]).toEqual([
      308,
      `https://forge.example/${repo.owner}/${name}.git/info/lfs/objects/batch`,
    ]);
  });
});
