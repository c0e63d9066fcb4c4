import { beforeAll, describe, expect, it } from "vitest";

import { basic, call, visit } from "../../support/call.ts";
import { askBatch, askLfs, makeLargeFile, upload } from "../../support/large-files.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import {
  clientFields,
  makeApplication,
  makeTokens,
  postForm,
  type TestApplication,
} from "../../support/oauth.ts";
import { doorsWith } from "../../support/service.ts";

/** Each way of sending a token. */
const FORMS: Readonly<Record<string, (token: string) => Record<string, string>>> = {
  "as Bearer": (token) => ({ Authorization: `Bearer ${token}` }),
  "as token": (token) => ({ Authorization: `token ${token}` }),
  "as the password of oauth2": (token) => basic("oauth2", token),
  "as the user name": (token) => basic(token, "x-oauth-basic"),
};

let user: TestUser;
let repo: TestRepo;
let application: TestApplication;
beforeAll(async () => {
  user = await make.user();
  repo = await make.repo(user, { isPrivate: true });
  application = await makeApplication(await make.user());
});

type Requested = (headers: Record<string, string>) => Promise<{ status: number }>;

const file = makeLargeFile("large");

const gitPath = (service: string) =>
  `/${repo.owner}/${repo.name}.git/info/refs?service=git-${service}`;

/** A read and a write at each door that takes tokens. */
const READS: Readonly<Record<string, Requested>> = {
  API: (headers) => call("GET", `/repos/${repo.owner}/${repo.name}`, { headers }),
  git: (headers) => visit("GET", gitPath("upload-pack"), { headers }),
  LFS: (headers) => askBatch(repo, "download", [file], { headers }),
  feed: (headers) => visit("GET", `/${repo.owner}/${repo.name}.rss`, { headers }),
};
const WRITES: Readonly<Record<string, Requested>> = {
  API: (headers) =>
    call("PATCH", `/repos/${repo.owner}/${repo.name}`, { headers, json: { description: "x" } }),
  git: (headers) => visit("GET", gitPath("receive-pack"), { headers }),
  LFS: (headers) => askBatch(repo, "upload", [file], { headers }),
};

/** Whether a token gets through, in each form: all forms must agree. */
async function opens(request: Requested, token: string): Promise<boolean> {
  const entries = Object.entries(FORMS).map(
    async ([name, form]) => [name, (await request(form(token))).status < 300] as const,
  );
  const answers = Object.fromEntries(await Promise.all(entries));
  const [first = false] = Object.values(answers);
  expect(answers).toEqual(Object.fromEntries(Object.keys(FORMS).map((name) => [name, first])));
  return first;
}

const tokenOf = async (scope: string) => (await makeTokens(user, application, { scope })).access;

// SECURITY: scopes that one door forgot, or one form of the header, were holes of other forges.
describe("an access token of an application", () => {
  it.each([
    ["write:repository", true, true],
    ["all", true, true],
    ["read:repository", true, false],
    ["read:user write:user read:issue", false, false],
    ["public-only write:repository", false, false],
    ["openid profile", false, false],
  ])("with %s reads %s and writes %s at each door", async (scope, reads, writes) => {
    const token = await tokenOf(scope);
    for (const [door, request] of Object.entries(READS)) {
      expect(await opens(request, token), `read: ${door}`).toBe(reads);
    }
    for (const [door, request] of Object.entries(WRITES)) {
      expect(await opens(request, token), `write: ${door}`).toBe(writes);
    }
  });

  it("opens no door once its grant is revoked", async () => {
    const tokens = await makeTokens(user, application, { scope: "all" });
    const requests = { ...READS, ...WRITES };
    for (const [door, request] of Object.entries(requests)) {
      expect(await opens(request, tokens.access), door).toBe(true);
    }
    await postForm("revoke", { token: tokens.refresh, ...clientFields(application) });
    for (const [door, request] of Object.entries(requests)) {
      expect(await opens(request, tokens.access), door).toBe(false);
    }
  });

  // SECURITY: the token of a transfer is valid for longer than it takes to revoke a grant.
  it("takes the tokens of Git LFS transfers with it that it was answered", async () => {
    const sealing = doorsWith({ SEALING_KEYS: `test:${"A".repeat(43)}=` });
    const stored = makeLargeFile("stored");
    expect((await upload(user, repo, stored)).status).toBe(200);
    const tokens = await makeTokens(user, application, { scope: "read:repository" });
    const batch = await askBatch(
      repo,
      "download",
      [{ oid: stored.oid, size: stored.size }],
      { headers: { Authorization: `Bearer ${tokens.access}` } },
      sealing,
    );
    const { header } = batch.body.objects[0].actions.download;
    const download = () =>
      askLfs("GET", repo, `objects/${stored.oid}`, { headers: header }, sealing);
    expect((await download()).status).toBe(200);

    await postForm("revoke", { token: tokens.refresh, ...clientFields(application) });

    expect((await download()).status).toBe(401);
  });
});
