import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  accessTokens,
  auditEvents,
  emailAddresses,
  gpgKeys,
  hooks,
  oauthApplications,
  reactions,
  sessions,
  users,
} from "../../../src/db/schema/index.ts";
import { AVATAR_BYTES_MAX } from "../../../src/domain/people/avatars/read-image.ts";
import { Browser } from "../../support/browser.ts";
import { answer, call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { filesOfExport, readJson, readText } from "../../support/exports.ts";
import { pngOf } from "../../support/images.ts";
import { makeAttachment, makeComment, makeIssue } from "../../support/issues.ts";
import { makeGpgKey, signText } from "../../support/keys.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeApplication } from "../../support/oauth.ts";
import { makePull } from "../../support/pulls.ts";

const SETTINGS = "/user/settings";
const ACCOUNT = `${SETTINGS}/account`;
const TOKENS = `${SETTINGS}/tokens`;
const KEYS = `${SETTINGS}/keys`;
const ORGANIZATIONS = `${SETTINGS}/organization`;
const BLOCKS = `${SETTINGS}/blocked_users`;

let user: TestUser;
let browser: Browser;
beforeEach(async () => {
  user = await make.userWithPassword();
  browser = await Browser.signedIn(user);
});

const rowOf = async ({ id }: { id: number }) => {
  const [row] = await db.select().from(users).where(eq(users.id, id));
  return row;
};

const formToken = async (path: string): Promise<string> =>
  /name="_csrf" value="([0-9a-f]{64})"/.exec(String((await browser.get(path)).body))?.[1] ?? "";

/** Sends a form that the page may not show. */
const send = async (path: string, fields: Record<string, string>) =>
  browser.post(path, { _csrf: await formToken(SETTINGS), ...fields });

describe("the profile", () => {
  const fields = {
    full_name: "Ada",
    description: "I write",
    location: "London",
    website: "https://ada.example",
    visibility: "limited",
    hide_email: "on",
  };

  it("is changed as by the API, and by what the API lacks", async () => {
    expect((await browser.submit(SETTINGS, fields)).status).toBe(303);
    expect(await rowOf(user)).toMatchObject({
      fullName: "Ada",
      description: "I write",
      location: "London",
      website: "https://ada.example",
      visibility: "limited",
      isEmailHidden: true,
      isActivityHidden: false,
    });
    const { body } = await call("GET", "/user/settings", { as: user });
    expect(body).toMatchObject({ full_name: "Ada", hide_email: true });
  });

  it.each([
    ["a website that is none", { website: "javascript:alert(1)" }, "Must be"],
    ["a long name", { full_name: "a".repeat(101) }, "Must have at most 100 characters"],
    ["an unknown visibility", { visibility: "secret" }, "Must be one of the list"],
  ])("keeps what was typed with %s, and changes nothing", async (_, change, message) => {
    const before = await rowOf(user);
    const { status, body } = await browser.submit(SETTINGS, { ...fields, ...change });

    expect(status).toBe(422);
    expect(body).toContain(message);
    expect(body).toContain("I write");
    expect(await rowOf(user)).toEqual(before);
  });

  it("has another name, and the old one leads there", async () => {
    const name = `${user.name}-new`;
    const form = `${SETTINGS}/rename`;
    expect((await browser.submit(SETTINGS, { new_username: name }, form)).status).toBe(303);
    expect(await rowOf(user)).toMatchObject({ name });
    expect((await browser.get(`/${user.name}`)).headers.get("Location")).toContain(`/${name}`);

    const other = await make.user();
    const taken = await browser.submit(SETTINGS, { new_username: other.name }, form);
    expect(taken.status).toBe(422);
    expect(await rowOf(user)).toMatchObject({ name });
  });

  it("has an image, which is removed", async () => {
    const image = new File([Buffer.from(pngOf(1, 1, user.name), "base64")], "a.png");
    const upload = async (file: File) => {
      const body = new FormData();
      body.append("_csrf", await formToken(SETTINGS));
      body.append("image", file);
      return browser.postForm(`${SETTINGS}/avatar`, body);
    };
    expect((await upload(image)).status).toBe(303);
    const stored = (await rowOf(user))?.avatarHash;
    expect(stored).not.toBe("");

    for (const [wrong, message] of [
      [new File(["no image"], "a.png"), "Must be a PNG, JPEG, GIF or WebP image"],
      [new File([new Uint8Array(AVATAR_BYTES_MAX + 1)], "a.png"), "Must have at most 1.0 MiB"],
      [new File([], ""), "Must be chosen"],
    ] as const) {
      const refused = await upload(wrong);
      expect(refused.status).toBe(422);
      expect(refused.body).toContain(message);
      expect((await rowOf(user))?.avatarHash).toBe(stored);
    }

    await browser.submit(SETTINGS, {}, `${SETTINGS}/avatar/delete`);
    expect((await rowOf(user))?.avatarHash).toBe("");
    const entries = await db.select().from(auditEvents).where(eq(auditEvents.ownerId, user.id));
    const edits = entries.filter(({ kind }) => kind === "user.edited");
    expect(edits.map(({ details }) => details)).toEqual([
      { changed: ["avatar"] },
      { changed: ["avatar"] },
    ]);
  });
});

describe("the appearance", () => {
  const path = `${SETTINGS}/appearance`;

  it("is chosen", async () => {
    const fields = { theme: "gitea-dark", diff_view_style: "split", language: "de-DE" };
    expect((await browser.submit(path, fields)).status).toBe(303);
    expect(await rowOf(user)).toMatchObject({
      theme: "gitea-dark",
      diffViewStyle: "split",
      language: "de-DE",
    });
    expect((await browser.get(path)).body).toContain('<html lang="en" data-colors="dark">');
  });

  it.each([{ theme: "gitea-dark", diff_view_style: "wide" }, { theme: "another" }])(
    "is not what is not in the lists: %j",
    async (fields) => {
      const before = await rowOf(user);
      expect((await browser.submit(path, { diff_view_style: "", ...fields })).status).toBe(422);
      expect(await rowOf(user)).toEqual(before);
    },
  );
});

describe("organizations", () => {
  it("are shown to others, hidden from them, and left", async () => {
    const org = await make.org([await make.user()]);
    await make.member(org, await make.team(org), user);
    const memberPath = `/orgs/${org.name}/public_members/${user.name}`;
    await browser.submit(ORGANIZATIONS, {}, `${ORGANIZATIONS}/visibility`);
    expect((await call("GET", memberPath)).status).toBe(204);
    await browser.submit(ORGANIZATIONS, {}, `${ORGANIZATIONS}/visibility`);
    expect((await call("GET", memberPath)).status).toBe(404);

    expect((await browser.submit(ORGANIZATIONS, {}, `${ORGANIZATIONS}/leave`)).status).toBe(303);
    expect((await browser.get(ORGANIZATIONS)).body).toContain("You belong to no organization.");
  });

  it("are not left by their last owner, nor by who is no member", async () => {
    const org = await make.org([user]);
    const refused = await browser.submit(ORGANIZATIONS, {}, `${ORGANIZATIONS}/leave`);
    expect(refused.status).toBe(403);
    expect(refused.body).toContain(org.name);

    const other = await make.org([await make.user()]);
    expect((await send(`${ORGANIZATIONS}/leave`, { org: other.name })).status).toBe(404);
  });
});

describe("blocks", () => {
  it("are made with a note, and ended", async () => {
    const other = await make.user();
    await browser.submit(BLOCKS, { blockee: other.name, note: "Too loud" });
    const page = String((await browser.get(BLOCKS)).body);
    expect(page).toContain(other.name);
    expect(page).toContain("Too loud");
    expect((await call("GET", `/user/blocks/${other.name}`, { as: user })).status).toBe(204);

    await browser.submit(BLOCKS, {}, `${BLOCKS}/unblock`);
    expect((await call("GET", `/user/blocks/${other.name}`, { as: user })).status).toBe(404);
  });

  it("of nobody, of oneself and twice are refused beside their field", async () => {
    const none = await browser.submit(BLOCKS, { blockee: "nobody-there", note: "kept" });
    expect(none.status).toBe(422);
    expect(none.body).toContain('id="blockee-fault"');
    expect(none.body).toContain("kept");
    expect((await browser.submit(BLOCKS, { blockee: user.name })).status).toBe(400);
  });
});

describe("tokens that are bound", () => {
  const tokenOf = (page: unknown) => /class="secret">([0-9a-f]{40})</.exec(String(page))?.[1] ?? "";

  it("reach what their form names, and say so in the words of the consent page", async () => {
    const [repo, other] = [await make.repo(user), await make.repo(user)];
    const { status, body } = await browser.submit(TOKENS, {
      name: "deploy",
      "scope-repository": "write",
      repositories: `${user.name}/${repo.name}\n\n`,
      refs: "refs/heads/main\nrefs/tags/v*",
      paths: "docs/**",
    });
    expect(status).toBe(200);
    const token = tokenOf(body);
    const [row] = await db.select().from(accessTokens).where(eq(accessTokens.name, "deploy"));
    expect(row).toMatchObject({
      isBound: true,
      boundRefs: ["refs/heads/main", "refs/tags/v*"],
      boundPaths: ["docs/**"],
      boundPackages: null,
      taskId: null,
      grants: null,
    });
    const entries = await db.select().from(auditEvents).where(eq(auditEvents.ownerId, user.id));
    expect(entries.at(-1)).toMatchObject({
      kind: "access_token.created",
      details: { refs: ["refs/heads/main", "refs/tags/v*"], paths: ["docs/**"], packages: null },
    });
    expect((await call("GET", `/repos/${user.name}/${repo.name}`, { token })).status).toBe(200);
    expect((await call("GET", `/repos/${user.name}/${other.name}`, { token })).status).toBe(404);

    const page = String((await browser.get(TOKENS)).body);
    expect(page).toContain("Read and change your repositories, with code");
    expect(page).toContain(`${user.name}/${repo.name}`);
    expect(page).toContain("refs/heads/main, refs/tags/v*");
    expect(page).toContain("Who uses it is refused from then on");
  });

  it.each([
    ["repositories", "no-name", "Must be of the form owner/name"],
    ["repositories", "nobody/nothing", "Must name repositories that exist"],
    ["refs", "main", "Must be full names of refs"],
    ["paths", "/docs", "Must be paths from the root"],
    ["packages", "npm", "Must be packages of the form"],
  ])("are refused beside the field %s: %s", async (field, value, message) => {
    const before = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    const fields = { name: "ci", "scope-repository": "read", [field]: value };
    const { status, body } = await browser.submit(TOKENS, fields);

    expect(status).toBe(422);
    expect(body).toMatch(new RegExp(`id="${field}-fault"[^>]*>[^<]*${message}`));
    expect(body).toContain(value);
    expect(body).toMatch(/<option value="read" selected/);
    const after = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    expect(after).toEqual(before);
  });
});

describe("OpenPGP keys", () => {
  const provenOf = async () =>
    (await db.select().from(gpgKeys).where(eq(gpgKeys.userId, user.id))).map(
      ({ isProven }) => isProven,
    );

  it("are verified by a signature of what the page shows", async () => {
    const key = await makeGpgKey("elsewhere@example.org");
    await browser.submit(KEYS, { armored: key.armored }, `${KEYS}/gpg/add`);
    expect(await provenOf()).not.toContain(true);
    const [, token = ""] =
      /echo ([0-9a-f]{64}) \|/.exec(String((await browser.get(KEYS)).body)) ?? [];

    const wrong = { signature: await signText(key, "another text") };
    expect((await browser.submit(KEYS, wrong, `${KEYS}/gpg/verify`)).status).toBe(422);
    expect(await provenOf()).not.toContain(true);

    const signature = await signText(key, token);
    expect((await browser.submit(KEYS, { signature }, `${KEYS}/gpg/verify`)).status).toBe(303);
    expect(await provenOf()).not.toContain(false);
    expect((await browser.get(KEYS)).body).toContain("verified by a signature");
  });
});

describe("applications", () => {
  it("are edited, with a new secret, by their owner alone", async () => {
    const application = await makeApplication(user);
    const path = `${SETTINGS}/applications/oauth2/${application.id}`;
    const stored = () =>
      db.select().from(oauthApplications).where(eq(oauthApplications.id, application.id));
    const [before] = await stored();
    const fields = { name: "Renamed", redirect_uris: "https://app.example/callback" };
    const { status, body } = await browser.submit(path, fields);
    expect(status).toBe(200);
    expect(body).toContain("The secret of Renamed");
    const [after] = await stored();
    expect(after).toMatchObject({ name: "Renamed", isConfidential: false });
    expect(after?.secretHash).not.toBe(before?.secretHash);

    const refused = await browser.submit(path, { ...fields, redirect_uris: "nowhere" });
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('id="redirect_uris-fault"');

    const stranger = await Browser.signedIn(await make.userWithPassword());
    expect((await stranger.get(path)).status).toBe(404);
  });
});

describe("addresses", () => {
  const emailsOf = async () =>
    db.select().from(emailAddresses).where(eq(emailAddresses.userId, user.id));

  it("become the primary one with the password, once they are confirmed", async () => {
    const email = `second-${user.email}`;
    const added = { email, current_password: user.password };
    await browser.submit(ACCOUNT, added, `${ACCOUNT}/emails/add`);
    const form = `${ACCOUNT}/emails/primary`;
    const before = await emailsOf();
    expect((await browser.submit(ACCOUNT, { current_password: "x" }, form)).status).toBe(422);
    expect(await emailsOf()).toEqual(before);

    const fields = { current_password: user.password };
    expect((await browser.submit(ACCOUNT, fields, form)).status).toBe(303);
    expect((await emailsOf()).find(({ isPrimary }) => isPrimary)?.email).toBe(email);

    await db
      .update(emailAddresses)
      .set({ isActivated: false })
      .where(eq(emailAddresses.email, user.email));
    const unconfirmed = { email: user.email, current_password: user.password };
    expect((await send(form, unconfirmed)).status).toBe(422);
    const stranger = await make.user();
    const foreign = { email: stranger.email, current_password: user.password };
    expect((await send(form, foreign)).status).toBe(404);
    expect((await rowOf(user))?.email).toBe(email);
  });
});

describe("the export", () => {
  const download = (path: string): Promise<Response> => {
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return answer(new Request(`https://forge.example${path}`, { headers: { Cookie: cookie } }));
  };

  it("has all of an account but its secrets", async () => {
    const repo = await make.repo(user, { description: "Mine" });
    const foreign = await make.repo(await make.user());
    const issue = await makeIssue(foreign, { posterId: user.id, title: "I found this" });
    await makeComment(issue, { posterId: user.id, body: "And said that" });
    await makeComment(issue, { posterId: (await make.user()).id, body: "Somebody else's words" });
    const hidden = await make.repo(await make.user(), { isPrivate: true });
    const closed = await make.repo(await make.user(), { hasIssues: false, hasPullRequests: false });
    const issueThere = await makeIssue(closed, {
      posterId: user.id,
      title: "Hidden with its unit",
    });
    await makeComment(issueThere, { posterId: user.id, body: "Hidden from me with it" });
    await makePull(closed, {}, { posterId: user.id, title: "Hidden with the pulls" });
    const gone = await makeIssue(hidden, { posterId: user.id, title: "Hidden from me now" });
    const reaction = { userId: user.id, createdAt: 1 };
    await db.insert(reactions).values([
      { ...reaction, issueId: issue.id, content: "heart" },
      { ...reaction, issueId: gone.id, content: "confused" },
      { ...reaction, userId: (await make.user()).id, issueId: issue.id, content: "laugh" },
    ]);
    const form = new FormData();
    form.append("attachment", new File(["my notes"], "notes.txt"));
    const assets = `/repos/${foreign.owner}/${foreign.name}/issues/${issue.number}/assets`;
    const { body: file } = await call("POST", assets, { as: user, body: form });
    await makeAttachment(issue, { uploaderId: user.id, name: "gone" });
    await makeAttachment(gone, { uploaderId: user.id, name: "Hidden from me, too" });

    const response = await download(`${SETTINGS}/export`);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Disposition")).toContain(`${user.name}.zip`);
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    const bytes = new Uint8Array(await response.arrayBuffer());
    const files = await filesOfExport(bytes);
    expect(await readJson(files, "account.json")).toMatchObject([{ login: user.name }]);
    expect(await readJson(files, "emails.json")).toMatchObject([{ email: user.email }]);
    expect(await readJson(files, "repositories.json")).toMatchObject([{ description: "Mine" }]);
    expect(await readJson(files, "issues.json")).toMatchObject([
      { title: "I found this", repository: `${foreign.owner}/${foreign.name}`, number: 1 },
    ]);
    expect(await readJson(files, "comments.json")).toMatchObject([{ body: "And said that" }]);
    expect(await readJson(files, "stars.json")).toEqual([]);
    const at = { repository: `${foreign.owner}/${foreign.name}`, number: 1 };
    expect(await readJson(files, "reactions.json")).toMatchObject([{ ...at, content: "heart" }]);
    const path = `files/${file.id}.txt`;
    // A file whose bytes are lost is listed alone.
    expect(await readJson(files, "files.json")).toMatchObject([
      { ...at, file: path, name: "notes.txt", uuid: file.uuid },
      { ...at, name: "gone" },
    ]);
    expect([...files.keys()].filter((each) => each.startsWith("files/"))).toEqual([path]);
    expect(await readText(files, path)).toBe("my notes");
    const lists = [...files.keys()].filter((each) => each.endsWith(".json"));
    const texts = await Promise.all(lists.map((each) => readJson(files, each)));
    const all = JSON.stringify(texts);
    expect(all).not.toContain("Somebody else");
    expect(all).not.toContain("Hidden");
    const [token] = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    const [session] = await db.select().from(sessions).where(eq(sessions.userId, user.id));
    for (const secret of [
      token?.secretHash,
      session?.secretHash,
      (await rowOf(user))?.passwordHash,
    ]) {
      expect(secret).toBeTruthy();
      expect(all).not.toContain(secret);
    }

    const whole = await download(`${SETTINGS}/export/${user.name}/${repo.name}`);
    expect(whole.status).toBe(200);
    await whole.body?.cancel();
    const strange = await download(`${SETTINGS}/export/${hidden.owner}/${hidden.name}`);
    expect(strange.status).toBe(404);
  });
});

describe("the deletion of the account", () => {
  const form = `${ACCOUNT}/delete`;

  it("needs the password, and ends the account", async () => {
    const wrong = await browser.submit(ACCOUNT, { current_password: "wrong" }, form);
    expect(wrong.status).toBe(422);
    expect(await rowOf(user)).toBeDefined();

    const fields = { current_password: user.password };
    const { status, headers } = await browser.submit(ACCOUNT, fields, form);
    expect(status).toBe(303);
    expect(headers.get("Location")).toBe("/");
    expect(await rowOf(user)).toBeUndefined();
    expect(await db.select().from(sessions).where(eq(sessions.userId, user.id))).toEqual([]);
    expect((await browser.get(ACCOUNT)).status).toBe(303);
    expect((await call("GET", "/user", { token: user.token })).status).toBe(401);
  });

  it("says what is in the way, and deletes nothing", async () => {
    await make.repo(user);
    await make.org([user]);
    const page = String((await browser.get(ACCOUNT)).body);
    expect(page).toContain("your repositories: delete or transfer them");
    expect(page).toContain("your organizations: leave them");
    expect(page).not.toContain("your packages");
    expect(page).not.toContain(`action="${form}"`);
    const refused = await send(form, { current_password: user.password });
    expect(refused.status).toBe(422);
    expect(await rowOf(user)).toMatchObject({ isLoginProhibited: false });
  });
});

describe("the log", () => {
  const path = `${SETTINGS}/log`;

  it("has what the account did, by kind", async () => {
    await browser.submit(SETTINGS, { visibility: "public", full_name: "Ada" });
    expect((await browser.get(path)).body).toContain("sign_in.succeeded");
    const edits = String((await browser.get(`${path}?kind=user.edited`)).body);
    expect(edits).toContain("fullName");
    expect(edits).not.toContain("<code>sign_in.succeeded</code>");
    for (const query of ["kind=x", "since=yesterday", `actor=${"a".repeat(41)}`]) {
      expect((await browser.get(`${path}?${query}`)).status).toBe(422);
    }
  });
});

describe("webhooks", () => {
  const path = `${SETTINGS}/hooks`;

  it("of an account are made and deleted", async () => {
    const fields = {
      url: "https://receiver.example/of-mine",
      content_type: "json",
      "event-push": "on",
      active: "on",
    };
    const { status, headers, body } = await browser.submit(`${path}/gitea/new`, fields);
    expect(status, String(body)).toBe(303);
    const owned = () => db.select().from(hooks).where(eq(hooks.ownerId, user.id));
    const [hook] = await owned();
    expect(hook).toMatchObject({ level: "user", url: fields.url });
    expect(headers.get("Location")).toBe(`${path}/${hook?.id}`);
    expect((await browser.get(path)).body).toContain("receiver.example");

    const stranger = await Browser.signedIn(await make.userWithPassword());
    expect((await stranger.get(`${path}/${hook?.id}`)).status).toBe(404);
    await send(path, { action: "delete", id: String(hook?.id) });
    expect(await owned()).toEqual([]);
  });
});
