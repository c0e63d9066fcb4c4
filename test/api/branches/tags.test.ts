import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, repositories } from "../../../src/db/schema/index.ts";
import { decodeText, readByteText } from "../../../src/git/byte-text.ts";
import { disableCode } from "../../support/disable-code.ts";
import { call, type Sending } from "../../support/call.ts";
import { makeDatedCommit } from "../../support/dated-commit.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { git, readAllObjects } from "../../support/git.ts";
import { makeOldGpgKey, makeSshKey, signBytes } from "../../support/keys.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { filesOf, makeCommit, pushCommands, refsOf, storePush } from "../../support/push.ts";
import { makeSignedTag, type Signer } from "../../support/signed.ts";
import { statusesOf } from "../../support/statuses.ts";
import { makeTag } from "../../support/tag.ts";
import { logged } from "../../support/usage.ts";

const baseOf = ({ owner, name }: Pick<TestRepo, "owner" | "name">) => `/repos/${owner}/${name}`;
const pathOf = (repo: TestRepo, tag?: string) =>
  `${baseOf(repo)}/tags${tag === undefined ? "" : `/${tag}`}`;

/** A repository whose `main` has one commit. */
async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const commit = makeCommit(repo.name);
  await storePush(repo, "refs/heads/main", commit.oid, commit.pack);
  return { owner, repo, commit };
}

async function storeTag(repo: TestRepo, commitOid: string, name: string, message?: string) {
  const tag = makeTag(commitOid, name, message === undefined ? {} : { message });
  await storePush(repo, `refs/tags/${name}`, tag.oid, tag.pack, commitOid);
  return tag;
}

const create = (repo: TestRepo, as: TestUser, json: object) =>
  call("POST", pathOf(repo), { as, json });

describe("GET /repos/{owner}/{repo}/tags", () => {
  it("lists tags by commit time, then by name, in pages, with a total", async () => {
    const { owner, repo, commit } = await makePushed();
    const [old, young] = [
      makeDatedCommit("old", { at: 1_600_000_000 }),
      makeDatedCommit("young", { at: 1_800_000_000 }),
    ];
    await storePush(repo, "refs/tags/a", old.oid, old.pack);
    await storePush(repo, "refs/tags/z/young", young.oid, young.pack);
    await storeTag(repo, commit.oid, "v2");
    await storePush(repo, "refs/tags/v1", commit.oid, commit.pack);
    const blob = makeTag(commit.treeOid, "tree", { kind: "tree" });
    await storePush(repo, "refs/tags/tree", blob.oid, blob.pack, commit.treeOid);
    const list = async (query: string) => {
      const { body, headers } = await call("GET", `${pathOf(repo)}${query}`);
      return [(body as { name: string }[]).map(({ name }) => name), headers.get("X-Total-Count")];
    };
    expect(await list("")).toEqual([["z/young", "v1", "v2", "a"], "4"]);
    expect(await list("?limit=3&page=2")).toEqual([["a"], "4"]);
    const { answer, line } = await logged(() => call("GET", pathOf(repo), { as: owner }));
    expect(answer.body).toHaveLength(4);
    expect(line).toMatchObject({ d1Rounds: 1, objectCalls: 1 });
  });

  it("is empty for a repository without commits", async () => {
    const repo = await make.repo(await make.user());
    const { status, body } = await call("GET", pathOf(repo));
    expect([status, body]).toEqual([200, []]);
  });

  it("requires read access to the code, like a tag and its object", async () => {
    const { owner, repo, commit } = await makePushed({ isPrivate: true });
    const { oid } = await storeTag(repo, commit.oid, "v1");
    for (const path of [pathOf(repo), pathOf(repo, "v1"), `${baseOf(repo)}/git/tags/${oid}`]) {
      expect((await call("GET", path)).status).toBe(404);
      expect((await call("GET", path, { as: await make.user() })).status).toBe(404);
      expect((await call("GET", path, { as: owner })).status).toBe(200);
    }
    await disableCode(repo);
    expect((await call("GET", pathOf(repo))).status).toBe(404);
    expect((await call("GET", pathOf(repo), { as: owner })).status).toBe(200);
  });
});

describe("GET /repos/{owner}/{repo}/tags/{tag}", () => {
  it("returns an annotated tag with its own message and date, without its signature", async () => {
    const { repo, commit } = await makePushed();
    const signature = "-----BEGIN SSH SIGNATURE-----\nabc\n-----END SSH SIGNATURE-----\n";
    const tag = await storeTag(repo, commit.oid, "rel/v1+x", `First\n\nof many\n${signature}`);
    const { status, body } = await call("GET", pathOf(repo, "rel/v1+x"));
    const url = `https://forge.example/${repo.owner}/${repo.name}`;
    expect([status, body]).toEqual([
      200,
      {
        name: "rel/v1+x",
        message: "First\n\nof many",
        id: tag.oid,
        commit: {
          sha: commit.oid,
          url: `https://forge.example/api/v1${baseOf(repo)}/git/commits/${commit.oid}`,
          created: "2022-04-15T05:20:00Z",
        },
        zipball_url: `${url}/archive/rel/v1%2Bx.zip`,
        tarball_url: `${url}/archive/rel/v1%2Bx.tar.gz`,
      },
    ]);
    expect((await call("GET", pathOf(repo, "rel%2Fv1%2Bx"))).body).toEqual(body);
  });

  it("returns a lightweight tag with the message and date of its commit", async () => {
    const { repo, commit } = await makePushed();
    await storePush(repo, "refs/tags/v1", commit.oid, commit.pack);
    const { body } = await call("GET", pathOf(repo, "v1"));
    expect(body).toMatchObject({
      message: repo.name,
      id: commit.oid,
      commit: { sha: commit.oid, created: "2023-11-14T22:13:20Z" },
    });
  });

  it("answers 404 for any other name", async () => {
    const { owner, repo, commit } = await makePushed();
    await storeTag(repo, commit.oid, "v1");
    const wrong = ["nothing", "main", "refs/tags/v1", "v1%2f", "..%2fv1", "%00", "%ff"];
    for (const name of [...wrong, "x".repeat(5000)]) {
      const { status, body } = await call("GET", pathOf(repo, name), { as: owner });
      expect([status, body], name).toEqual([404, ""]);
    }
  });
});

describe("POST /repos/{owner}/{repo}/tags", () => {
  it("creates an annotated tag with the caller as tagger, as git does, and records a push", async () => {
    const { repo, commit } = await makePushed();
    const writer = await make.user({ fullName: "Ada L.", isEmailHidden: true });
    await make.collaborator(repo, writer, ACCESS.write);
    const before = await eventsOf(repo);
    const message = "\n\n# A word  \n\n\n\nand\tmore\t\n \n";
    const { status, body } = await create(repo, writer, { tag_name: "rel/v1", message });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        name: "rel/v1",
        message: "# A word\n\nand\tmore",
        commit: expect.objectContaining({ sha: commit.oid }),
      }),
    ]);
    expect((await call("GET", pathOf(repo, "rel/v1"))).body).toEqual(body);
    expect((await refsOf(repo))[1]).toEqual({
      name: "refs/tags/rel/v1",
      oid: body.id,
      peeledOid: commit.oid,
    });
    const stored = git.repository(repo);
    const { objects } = await stored.open(await stored.snapshot());
    const object = await objects.readObject(body.id);
    const seconds = Date.parse(body.commit.created) / 1000;
    expect(decodeText(readByteText(object?.content ?? new Uint8Array()))).toBe(
      `object ${commit.oid}\ntype commit\ntag rel/v1\n` +
        `tagger Ada L <${writer.name}@noreply.forge.example> ${seconds} +0000\n\n` +
        "# A word\n\nand\tmore\n",
    );
    expect(await readAllObjects(repo)).toBe(4);
    expect((await eventsOf(repo)).slice(before.length)).toMatchObject([
      {
        type: "repository.pushed",
        actorId: writer.id,
        payload: { updates: [{ ref: "refs/tags/rel/v1", before: null, after: body.id }] },
      },
    ]);
  });

  it("creates a lightweight tag if there is no message, at a branch, a tag or a commit", async () => {
    const { owner, repo, commit } = await makePushed();
    const other = makeDatedCommit("other");
    await storePush(repo, "refs/heads/a/b", other.oid, other.pack);
    await storeTag(repo, other.oid, "annotated");
    const files = await filesOf(repo);
    const targets = [
      [{}, commit.oid],
      [{ target: "", message: " \n" }, commit.oid],
      [{ target: "a/b" }, other.oid],
      [{ target: "annotated" }, other.oid],
      [{ target: other.oid.slice(0, 10) }, other.oid],
    ] as const;
    for (const [at, [json, oid]] of targets.entries()) {
      const { status, body } = await create(repo, owner, { tag_name: `v${at}`, ...json });
      expect([status, body.id, body.commit?.sha]).toEqual([201, oid, oid]);
      expect((await call("GET", pathOf(repo, `v${at}`))).body).toEqual(body);
    }
    expect(await filesOf(repo)).toEqual(files);
  });

  it("refuses taken and invalid names, and an unknown target", async () => {
    const { owner, repo, commit } = await makePushed();
    await storeTag(repo, commit.oid, "a/b");
    const gone = makeDatedCommit("not reached");
    await storePush(repo, "refs/heads/gone", gone.oid, gone.pack);
    await pushCommands(owner, repo, [{ ref: "refs/heads/gone", old: gone.oid }]);
    const [refs, events] = [await refsOf(repo), await eventsOf(repo)];
    const files = await filesOf(repo);
    const wrong = ["a..b", "-x", "a b", "x.lock", "../x", "a//b", "a\u0000b", "x~1", "\uD800"];
    const refusals: [object, number, string][] = [
      [{ tag_name: "a/b" }, 409, "tag already exists [name: a/b]"],
      [{ tag_name: "a" }, 409, "tag clashes with another [name: a]"],
      [{ tag_name: "a/b/c" }, 409, "tag clashes with another [name: a/b/c]"],
      [{ tag_name: "" }, 422, "[tag_name]: must not be empty"],
      [{ tag_name: "n".repeat(5000) }, 422, "[tag_name]: must have at most 255 characters"],
      ...wrong.map((name): [object, number, string] => [
        { tag_name: name },
        422,
        "[tag_name]: must be a name that git allows, no object id, without a leading dash and control characters",
      ]),
      [{ tag_name: "x", message: "a\u0000b" }, 422, "[message]: must not contain NUL"],
      [
        { tag_name: "x", message: "m".repeat(70_000) },
        422,
        "[message]: must have at most 65535 characters",
      ],
      [{ tag_name: "x", target: "nothing" }, 404, ""],
      // SECURITY: an unreachable commit must not become accessible again by its id.
      [{ tag_name: "x", target: gone.oid }, 404, ""],
      [{ tag_name: "x", target: commit.treeOid }, 404, ""],
    ];
    for (const [json, status, message] of refusals) {
      const answer = await create(repo, owner, { message: "m", ...json });
      expect([answer.status, answer.body.message ?? answer.body], JSON.stringify(json)).toEqual([
        status,
        message,
      ]);
    }
    expect(await refsOf(repo)).toEqual(refs);
    expect(await eventsOf(repo)).toEqual(events);
    expect(await filesOf(repo)).toEqual(files);
  });

  it("creates only one of several concurrently requested tags of one name", async () => {
    const { owner, repo } = await makePushed();
    const answers = await Promise.all(
      ["a", "b", "c"].map((message) => create(repo, owner, { tag_name: "one", message })),
    );
    expect(statusesOf(answers)).toEqual([201, 409, 409]);
    expect(await readAllObjects(repo)).toBe(4);
  });

  it("answers 404 in an empty repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    expect((await create(repo, owner, { tag_name: "x", message: "m" })).status).toBe(404);
  });
});

describe("DELETE /repos/{owner}/{repo}/tags/{tag}", () => {
  it("deletes a tag and records a push", async () => {
    const { owner, repo, commit } = await makePushed();
    const { oid } = await storeTag(repo, commit.oid, "a/b");
    const before = await eventsOf(repo);
    const { status, body } = await call("DELETE", pathOf(repo, "a%2Fb"), { as: owner });
    expect([status, body]).toEqual([204, ""]);
    expect((await refsOf(repo)).map(({ name }) => name)).toEqual(["refs/heads/main"]);
    expect((await eventsOf(repo)).slice(before.length)).toMatchObject([
      { payload: { updates: [{ ref: "refs/tags/a/b", before: oid, after: null }] } },
    ]);
    expect((await call("DELETE", pathOf(repo, "a/b"), { as: owner })).status).toBe(404);
    expect((await call("DELETE", pathOf(repo, "main"), { as: owner })).status).toBe(404);
  });
});

describe("GET /repos/{owner}/{repo}/git/tags/{sha}", () => {
  it("returns the object of an annotated tag, and its signed payload", async () => {
    const { repo, commit } = await makePushed();
    const plain = await storeTag(repo, commit.oid, "v1", "One\n");
    const signature = "-----BEGIN PGP SIGNATURE-----\nabc\n-----END PGP SIGNATURE-----\n";
    const signed = await storeTag(repo, commit.oid, "v2", `Two ü\n${signature}`);
    const url = `https://forge.example/api/v1${baseOf(repo)}/git`;
    const read = async (oid: string) => (await call("GET", `${baseOf(repo)}/git/tags/${oid}`)).body;
    expect(await read(plain.oid.toUpperCase())).toEqual({
      tag: "v1",
      sha: plain.oid,
      url: `${url}/tags/${plain.oid}`,
      message: "One\n",
      tagger: { name: "T", email: "t@example.com", date: "2022-04-15T05:20:00Z" },
      object: { type: "commit", sha: commit.oid, url: `${url}/commits/${commit.oid}` },
      verification: {
        verified: false,
        reason: "gpg.error.not_signed_commit",
        signature: "",
        signer: null,
        payload: "",
      },
    });
    expect(await read(signed.oid)).toMatchObject({
      message: "Two ü\n",
      verification: {
        verified: false,
        reason: "gpg.error.extract_sign",
        signature,
        payload: signed.content.slice(0, -signature.length),
      },
    });
  });

  it("verifies a signature with the tagger's keys, and returns the message without it", async () => {
    const { owner, repo, commit } = await makePushed();
    const tagger = await make.user();
    const ssh = makeSshKey();
    const gpg = await makeOldGpgKey(tagger.email);
    await call("POST", "/user/keys", { as: tagger, json: { title: "laptop", key: ssh.line } });
    const json = { armored_public_key: gpg.armored };
    await call("POST", "/user/gpg_keys", { as: tagger, json });
    const signers: [Signer, string][] = [
      [ssh.sign, ssh.fingerprint],
      [(bytes) => signBytes(gpg, bytes), gpg.keyId],
    ];
    const store = async (email: string, sign: Signer, append?: string) => {
      const made = await makeSignedTag(commit.oid, { tagger: `T <${email}>`, sign, append });
      await storePush(repo, `refs/tags/${freshName("v")}`, made.oid, made.pack, commit.oid);
      const { body } = await call("GET", `${baseOf(repo)}/git/tags/${made.oid}`);
      expect(body.message).toBe("One\n");
      return { made, verification: body.verification };
    };
    for (const [sign, keyName] of signers) {
      const { made, verification } = await store(tagger.email, sign);
      expect(verification).toEqual({
        verified: true,
        reason: `${tagger.name} / ${keyName}`,
        signature: made.signature,
        payload: made.content,
        signer: { name: tagger.name, email: tagger.email, username: "" },
      });
      const byOwner = await store(owner.email, sign);
      expect(byOwner.verification.reason).toBe("gpg.error.no_gpg_keys_found");
      const more = await store(tagger.email, sign, "and a word more\n");
      expect(more.verification.payload).toBe(made.content);
    }
  });

  it("returns a tag object that another tag points at", async () => {
    const { owner, repo, commit } = await makePushed();
    const inner = makeTag(commit.oid, "inner");
    await storePush(repo, "refs/tags/inner", inner.oid, inner.pack, commit.oid);
    const outer = makeTag(inner.oid, "outer", { kind: "tag" });
    await storePush(repo, "refs/tags/outer", outer.oid, outer.pack, commit.oid);
    expect((await call("DELETE", pathOf(repo, "inner"), { as: owner })).status).toBe(204);
    const { status, body } = await call("GET", `${baseOf(repo)}/git/tags/${inner.oid}`);
    expect([status, body.tag]).toEqual([200, "inner"]);
    expect((await call("GET", pathOf(repo, "outer"))).body.commit.sha).toBe(commit.oid);
  });

  // SECURITY: an unreachable tag object must look like one that never existed.
  it("answers 400 with one message for anything but a reachable annotated tag", async () => {
    const { owner, repo, commit } = await makePushed();
    const tag = await storeTag(repo, commit.oid, "v1");
    await call("DELETE", pathOf(repo, "v1"), { as: owner });
    const shas = [
      tag.oid,
      commit.oid,
      commit.treeOid,
      "0".repeat(40),
      "v1",
      "%00",
      "x".repeat(5000),
    ];
    for (const sha of shas) {
      const { status, body } = await call("GET", `${baseOf(repo)}/git/tags/${sha}`, { as: owner });
      expect([status, body.message]).toEqual([400, "there is no annotated tag of that id"]);
    }
  });
});

describe("a tag change", () => {
  const changes = [
    ["POST", undefined, { tag_name: "x", message: "m" }],
    ["DELETE", "v1", undefined],
  ] as const;

  it.each(changes)(
    "requires write access to the code, and a token that grants it: %s",
    async (...change) => {
      const [method, tag, json] = change;
      const { owner, repo, commit } = await makePushed({ isPrivate: true });
      await storeTag(repo, commit.oid, "v1");
      const [refs, files] = [await refsOf(repo), await filesOf(repo)];
      const reader = await make.user();
      await make.collaborator(repo, reader, ACCESS.read);
      const sendings: [Sending, number][] = [
        [{}, 404],
        [{ as: await make.user() }, 404],
        [{ as: reader }, 403],
        [{ token: await make.token(owner, { scopes: "read:repository" }) }, 403],
        [{ token: await make.token(owner, { repos: [await make.repo(owner)] }) }, 404],
      ];
      for (const [sending, status] of sendings) {
        const answer = await call(method, pathOf(repo, tag), { ...sending, ...(json && { json }) });
        expect(answer.status).toBe(status);
      }
      expect(await refsOf(repo)).toEqual(refs);
      expect(await filesOf(repo)).toEqual(files);
    },
  );

  it.each(changes)(
    "is refused in archives and mirrors, and with the code unit disabled: %s",
    async (...change) => {
      const [method, tag, json] = change;
      const { owner, repo, commit } = await makePushed();
      await storeTag(repo, commit.oid, "v1");
      const refs = await refsOf(repo);
      const states = [
        [{ archivedAt: 1000 }, 423],
        [{ archivedAt: null, isMirror: true }, 403],
        [{ isMirror: false, hasCode: false }, 403],
      ] as const;
      for (const [fields, status] of states) {
        await db.update(repositories).set(fields).where(eq(repositories.id, repo.id));
        const sending = { as: owner, ...(json && { json }) };
        expect((await call(method, pathOf(repo, tag), sending)).status).toBe(status);
      }
      expect(await refsOf(repo)).toEqual(refs);
    },
  );
});
