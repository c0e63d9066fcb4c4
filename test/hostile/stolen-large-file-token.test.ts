import { and, eq } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";

import { accessTokens, collaborations, users } from "../../src/db/schema/index.ts";
import { formatBase64 } from "../../src/lib/base64.ts";
import { basic, call, type Sending } from "../support/call.ts";
import { db } from "../support/db.ts";
import {
  askBatch,
  askLfs,
  makeLargeFile,
  objectsOf,
  type TestFile,
  upload,
} from "../support/large-files.ts";
import { freshName, make, type TestRepo } from "../support/make.ts";
import { doorsWith } from "../support/service.ts";

const SEALING_KEYS = `test:${formatBase64(new Uint8Array(32).fill(7))}`;
const visit = doorsWith({ SEALING_KEYS });
const HEADER = "X-LFS-Transfer-Token";

afterEach(() => vi.useRealTimers());

interface Action {
  href: string;
  header: Record<string, string>;
  expires_in?: number;
}

/** Asks for the actions of one file. */
async function actionsOf(
  repo: TestRepo,
  operation: "upload" | "download",
  { oid, size }: TestFile,
  sending: Sending,
  service = visit,
) {
  const { body } = await askBatch(repo, operation, [{ oid, size }], sending, service);
  const [{ actions }] = body.objects;
  return {
    text: JSON.stringify(body),
    item: body.objects[0],
    actions: actions as Record<string, Action>,
  };
}

/**
 * Sends the requests of a file's actions, each with the headers of an action, and returns their
 * statuses.
 */
const transfer = {
  async download(repo: TestRepo, { oid }: TestFile, headers: Record<string, string>) {
    return (await askLfs("GET", repo, `objects/${oid}`, { headers }, visit)).status;
  },
  async upload(repo: TestRepo, { oid, size, bytes }: TestFile, headers: Record<string, string>) {
    return (await askLfs("PUT", repo, `objects/${oid}/${size}`, { headers, body: bytes }, visit))
      .status;
  },
  async verify(repo: TestRepo, { oid, size }: TestFile, headers: Record<string, string>) {
    return (await askLfs("POST", repo, "verify", { headers, json: { oid, size } }, visit)).status;
  },
};

async function makeStored() {
  const owner = await make.userWithPassword();
  const repo = await make.repo(owner, { isPrivate: true });
  const [file, other] = [makeLargeFile(freshName("a")), makeLargeFile(freshName("b"))];
  for (const each of [file, other]) expect((await upload(owner, repo, each)).status).toBe(200);
  const { actions } = await actionsOf(repo, "download", file, { as: owner });
  return { owner, repo, file, other, header: actions["download"]?.header ?? {} };
}

describe("the answer to a batch", () => {
  it.each(["download", "upload"] as const)("of a %s repeats no credential", async (operation) => {
    const { owner, repo, file } = await makeStored();
    const requested = operation === "upload" ? makeLargeFile(freshName("new")) : file;
    const credentials: Sending[] = [
      { as: owner },
      { headers: basic(owner.name, owner.password) },
      { headers: basic("x", owner.token) },
      { headers: { Authorization: `Bearer ${owner.token}` } },
    ];
    for (const service of [visit, doorsWith({})]) {
      for (const sending of credentials) {
        const { text } = await actionsOf(repo, operation, requested, sending, service);
        const sent = sending.headers?.["Authorization"]?.split(" ")[1] ?? owner.token;
        expect(text).toContain("href");
        expect(text).not.toMatch(/authorization/i);
        for (const secret of [sent, owner.token, owner.password])
          expect(text).not.toContain(secret);
      }
    }
  });

  it("has a token for each action, which the client may use beside its own credential", async () => {
    const { owner, repo } = await makeStored();
    const file = makeLargeFile(freshName("new"));
    const { actions, item } = await actionsOf(repo, "upload", file, { as: owner });
    expect(item.authenticated).toBe(true);
    expect(actions["upload"]).toMatchObject({ expires_in: 900 });
    for (const extra of [{}, { Authorization: `token ${owner.token}` }, basic("x", "wrong")]) {
      const headersOf = (name: string) => ({ ...actions[name]?.header, ...extra });
      expect(await transfer.upload(repo, file, headersOf("upload"))).toBe(200);
      expect(await transfer.verify(repo, file, headersOf("verify"))).toBe(200);
      const { actions: next } = await actionsOf(repo, "download", file, { as: owner });
      const headers = { ...next["download"]?.header, ...extra };
      expect(await transfer.download(repo, file, headers)).toBe(200);
    }
  });

  it("has no token for an anonymous caller, nor for a service without a key", async () => {
    const { owner, repo, file } = await makeStored();
    const open = await make.repo(owner);
    expect((await upload(owner, open, file)).status).toBe(200);
    const anonymous = await actionsOf(open, "download", file, {});
    const keyless = await actionsOf(repo, "download", file, { as: owner }, doorsWith({}));
    for (const { item } of [anonymous, keyless]) {
      expect(item).not.toHaveProperty("authenticated");
      expect(item.actions.download.header).not.toHaveProperty(HEADER);
    }
  });
});

describe("a stolen token of a transfer", () => {
  it("opens neither another file, nor another operation, nor another repository", async () => {
    const { owner, repo, file, other, header } = await makeStored();
    const twin = await make.repo(owner, { isPrivate: true });
    expect((await upload(owner, twin, file)).status).toBe(200);
    expect(await transfer.download(repo, file, header)).toBe(200);

    expect(await transfer.download(repo, other, header)).toBe(401);
    expect(await transfer.download(twin, file, header)).toBe(401);
    expect(await transfer.verify(repo, file, header)).toBe(401);
    const missing = makeLargeFile(freshName("new"));
    const { actions } = await actionsOf(repo, "upload", missing, { as: owner });
    const { upload: forUpload, verify: forVerify } = actions;
    expect(await transfer.upload(repo, missing, header)).toBe(401);
    expect(await transfer.upload(repo, missing, forVerify?.header ?? {})).toBe(401);
    expect(await transfer.upload(twin, missing, forUpload?.header ?? {})).toBe(401);
    expect(await transfer.upload(repo, makeLargeFile("x"), forUpload?.header ?? {})).toBe(401);
    expect([await objectsOf(repo), await objectsOf(twin)].map(({ length }) => length)).toEqual([
      2, 1,
    ]);
  });

  it("opens nothing outside of transfers", async () => {
    const { repo, header } = await makeStored();
    const at = `/${repo.owner}/${repo.name}`;
    const token = header[HEADER] ?? "";
    for (const headers of [header, { Authorization: `Bearer ${token}` }, basic("x", token)]) {
      expect((await visit("GET", `/api/v1/repos${at}`, { headers })).status).not.toBe(200);
      const refs = await visit("GET", `${at}/info/refs?service=git-upload-pack`, { headers });
      expect(refs.status).toBe(401);
      expect((await askLfs("GET", repo, "locks", { headers }, visit)).status).toBe(401);
      expect((await askBatch(repo, "download", [], { headers }, visit)).status).toBe(401);
    }
  });

  it("is refused once it has expired", async () => {
    const { repo, file, header } = await makeStored();
    vi.useFakeTimers({ now: Date.now() + 15 * 60_000 + 1000, toFake: ["Date"] });
    expect(await transfer.download(repo, file, header)).toBe(401);
  });

  it("ends with the access token or password, the permission and the account it was made for", async () => {
    const { owner, repo, file } = await makeStored();
    const headerOf = async (sending: Sending) =>
      (await actionsOf(repo, "download", file, sending)).actions["download"]?.header ?? {};

    const token = await make.token(owner);
    const byToken = await headerOf({ token });
    expect(await transfer.download(repo, file, byToken)).toBe(200);
    await db.delete(accessTokens).where(eq(accessTokens.lastEight, token.slice(-8)));
    expect(await transfer.download(repo, file, byToken)).toBe(401);

    const friend = await make.user();
    await make.collaborator(repo, friend, 1);
    const byFriend = await headerOf({ as: friend });
    expect(await transfer.download(repo, file, byFriend)).toBe(200);
    const isTheirs = and(eq(collaborations.repoId, repo.id), eq(collaborations.userId, friend.id));
    await db.delete(collaborations).where(isTheirs);
    expect(await transfer.download(repo, file, byFriend)).toBe(404);

    const byPassword = await headerOf({ headers: basic(owner.name, owner.password) });
    expect(await transfer.download(repo, file, byPassword)).toBe(200);
    const json = { password: "another long password", must_change_password: false };
    const path = `/admin/users/${owner.name}`;
    expect((await call("PATCH", path, { as: await make.admin(), json })).status).toBe(200);
    expect(await transfer.download(repo, file, byPassword)).toBe(401);

    const again = await headerOf({ headers: basic(owner.name, json.password) });
    expect(await transfer.download(repo, file, again)).toBe(200);
    await db.update(users).set({ isLoginProhibited: true }).where(eq(users.id, owner.id));
    expect(await transfer.download(repo, file, again)).toBe(403);
  });

  it("grants no more than the scopes of its access token", async () => {
    const { owner, repo, file } = await makeStored();
    const token = await make.token(owner, { scopes: "read:repository" });
    const { actions } = await actionsOf(repo, "download", file, { token });
    expect(await transfer.download(repo, file, actions["download"]?.header ?? {})).toBe(200);
    await db
      .update(accessTokens)
      .set({ scopes: "read:issue" })
      .where(eq(accessTokens.lastEight, token.slice(-8)));
    expect(await transfer.download(repo, file, actions["download"]?.header ?? {})).toBe(403);
  });

  it("is refused when it is damaged, made up, or sealed for something else", async () => {
    const { owner, repo, file, header } = await makeStored();
    const token = header[HEADER] ?? "";
    const { body: hook } = await visit("POST", `/api/v1/repos/${repo.owner}/${repo.name}/hooks`, {
      as: owner,
      json: {
        type: "gitea",
        config: { url: "https://hooks.example/", content_type: "json", secret: "s" },
      },
    });
    expect(hook.id).toEqual(expect.any(Number));
    const half = token.slice(0, token.length / 2);
    for (const text of [
      "",
      "x",
      half,
      `${token.slice(0, -6)}AAAAA=`,
      `${token}.x`,
      "1.other.AAAA",
    ]) {
      expect([text, await transfer.download(repo, file, { [HEADER]: text })]).toEqual([text, 401]);
    }
    expect((await call("GET", `/repos/${repo.owner}/${repo.name}`, { as: owner })).status).toBe(
      200,
    );
  });
});
