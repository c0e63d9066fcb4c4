import { eq, inArray } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  emailAddresses,
  mailedCodes,
  mails,
  registrations,
  sessions,
  users,
} from "../../../src/db/schema/index.ts";
import { sendDueMails } from "../../../src/domain/operations/mail-delivery/send-due-mails.ts";
import { purgeSignIns } from "../../../src/domain/people/sessions/purge-sign-ins.ts";
import { only } from "../../../src/lib/only.ts";
import { Browser } from "../../support/browser.ts";
import { basic } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { MAIL_SETTINGS, Mailbox, serviceWithMail } from "../../support/mails.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { systemCtx } from "../../support/system.ts";

const FORGOTTEN = "/user/forgot_password";
const RECOVERY = "/user/recover_account";
const SIGN_UP = "/user/sign_up";
const ACTIVATION = "/user/activate";
const NEW = "a new password";
const NOT_VALID = "This link is not valid";
const HOUR_MS = 60 * 60 * 1000;

const { mailbox, visit } = serviceWithMail({ DISABLE_REGISTRATION: "false" });

let user: TestUser;
let browser: Browser;
beforeEach(async () => {
  user = await make.userWithPassword();
  browser = new Browser(visit);
});

/** Matches the codes that were mailed to a user. */
const isCodeOf = ({ id }: TestUser) =>
  inArray(
    mailedCodes.addressId,
    db.select({ id: emailAddresses.id }).from(emailAddresses).where(eq(emailAddresses.userId, id)),
  );
const passwordOf = async ({ id }: TestUser) =>
  (await db.select().from(users).where(eq(users.id, id)))[0]?.passwordHash;
const signInStatus = async (name: string, password: string) =>
  (await new Browser(visit).signIn({ name, password })).status;

/** A page without the token of its forms. */
const textOf = (body: unknown) => String(body).replaceAll(/value="[0-9a-f]{64}"/g, "");

describe("a forgotten password", () => {
  it("is replaced by a mailed link, once, and ends all sessions", async () => {
    const other = await Browser.signedIn(user, visit);
    await browser.submit(FORGOTTEN, { email: user.email.toUpperCase() });
    const mail = only(mailbox.to(user.email));
    expect(mail).toMatchObject({ from: MAIL_SETTINGS.MAIL_FROM, subject: expect.any(String) });
    const link = mailbox.lastLink(user.email);
    expect(link).toMatch(/^\/user\/recover_account\?code=[0-9a-f]{40}$/);

    const fields = { password: NEW, retype: NEW };
    const answer = await browser.submit(link, fields, RECOVERY);
    expect(answer.status).toBe(200);
    expect(answer.body).toContain("Your password is changed");
    expect(await signInStatus(user.name, NEW)).toBe(303);
    expect(await signInStatus(user.name, user.password)).toBe(401);
    expect((await other.get("/user/settings/security")).status).toBe(303);

    const again = await browser.get(link);
    expect(again).toMatchObject({ status: 404, body: expect.stringContaining(NOT_VALID) });
  });

  it("answers the same for an address that no account has, and mails nothing", async () => {
    const count = mailbox.mails.length;
    const known = await browser.submit(FORGOTTEN, { email: user.email });
    const stranger = `${freshName("nobody")}@example.com`;
    const unknown = await new Browser(visit).submit(FORGOTTEN, { email: stranger });

    expect(unknown.status).toBe(200);
    expect(textOf(unknown.body).replaceAll(stranger, "ADDRESS")).toBe(
      textOf(known.body).replaceAll(user.email, "ADDRESS"),
    );
    expect(mailbox.mails).toHaveLength(count + 1);
  });

  it.each([
    ["an account that is switched off", { isActive: false }],
    ["an account that may not sign in", { isLoginProhibited: true }],
  ])("is not replaced for %s", async (_, fields) => {
    await browser.submit(FORGOTTEN, { email: user.email });
    const link = mailbox.lastLink(user.email);
    await db.update(users).set(fields).where(eq(users.id, user.id));

    expect((await browser.get(link)).body).toContain(NOT_VALID);
    await browser.submit(FORGOTTEN, { email: user.email });
    expect(mailbox.to(user.email)).toHaveLength(1);
  });

  it("needs an address that is confirmed", async () => {
    const { email } = user;
    await db
      .update(emailAddresses)
      .set({ isActivated: false })
      .where(eq(emailAddresses.userId, user.id));
    await browser.submit(FORGOTTEN, { email });

    expect(mailbox.to(email)).toEqual([]);
  });

  it("is not replaced by a link of the account's other purpose, of another account, or made up", async () => {
    const other = await make.userWithPassword();
    await visit("POST", "/api/v1/user/emails", {
      as: user,
      json: { emails: [`second-${user.email}`] },
    });
    const code = mailbox.lastLink(`second-${user.email}`).split("=")[1] ?? "";
    expect(code).toMatch(/^[0-9a-f]{40}$/);
    const before = [await passwordOf(user), await passwordOf(other)];

    for (const wrong of [code, "0".repeat(40), "", `${code}'`]) {
      const answer = await browser.get(`${RECOVERY}?code=${encodeURIComponent(wrong)}`);
      expect(answer).toMatchObject({ status: 404, body: expect.stringContaining(NOT_VALID) });
    }
    await browser.submit(FORGOTTEN, { email: user.email });
    const page = await browser.get(mailbox.lastLink(user.email));
    const token = /name="_csrf" value="([0-9a-f]{64})"/.exec(String(page.body))?.[1] ?? "";
    const fields = { _csrf: token, code, password: NEW, retype: NEW };
    expect((await browser.post(RECOVERY, fields)).status).toBe(404);
    expect([await passwordOf(user), await passwordOf(other)]).toEqual(before);
  });

  it("is not replaced by a link that is older than an hour, or followed by a newer one", async () => {
    await browser.submit(FORGOTTEN, { email: user.email });
    const first = mailbox.lastLink(user.email);
    await browser.submit(FORGOTTEN, { email: user.email });
    const second = mailbox.lastLink(user.email);
    expect((await browser.get(first)).status).toBe(404);
    expect((await browser.get(second)).status).toBe(200);
    const [row] = await db.select().from(mailedCodes).where(isCodeOf(user));
    expect(row?.expiresAt).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    await db.update(mailedCodes).set({ expiresAt: Date.now() }).where(isCodeOf(user));

    expect((await browser.get(second)).status).toBe(404);
  });

  it("is not replaced by a bad password, and the link stays", async () => {
    await browser.submit(FORGOTTEN, { email: user.email });
    const link = mailbox.lastLink(user.email);
    const answer = await browser.submit(link, { password: "short", retype: "short" }, RECOVERY);

    expect(answer.status).toBe(422);
    expect(await passwordOf(user)).toBe(user.passwordHash);
    expect((await browser.get(link)).status).toBe(200);
  });

  it("is replaced once by two requests at once", async () => {
    await browser.submit(FORGOTTEN, { email: user.email });
    const link = mailbox.lastLink(user.email);
    const fields = { password: NEW, retype: NEW };
    const browsers = [new Browser(visit), new Browser(visit)];
    const answers = await Promise.all(browsers.map((each) => each.submit(link, fields, RECOVERY)));

    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
  });

  it("is limited for an address, whether an account has it or not", async () => {
    for (const email of [user.email, `${freshName("nobody")}@example.com`]) {
      const statuses = [];
      for (let tries = 0; tries < 6; tries++) {
        statuses.push((await browser.submit(FORGOTTEN, { email })).status);
      }
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    }
  });

  it("takes one address that is one", async () => {
    const answer = await browser.submit(FORGOTTEN, { email: `${user.email},a@example.com` });

    expect(answer.status).toBe(422);
    expect(mailbox.to(user.email)).toEqual([]);
  });

  it("is nothing that a service without mail replaces", async () => {
    const { body } = await new Browser().get(FORGOTTEN);

    expect(body).toContain("sends no mail");
    expect(body).not.toContain('name="email"');
  });
});

describe("registering", () => {
  const entered = () => {
    const name = freshName("new");
    return { user_name: name, email: `${name}@example.com`, password: NEW, retype: NEW };
  };
  const accountNamed = (name: string) => db.select().from(users).where(eq(users.name, name));

  it("creates an account when the mailed link is confirmed, and nothing before", async () => {
    const fields = entered();
    const answer = await browser.submit(SIGN_UP, fields);
    expect(answer.body).toContain("Look into your mail");
    expect(await accountNamed(fields.user_name)).toEqual([]);
    const link = mailbox.lastLink(fields.email);
    const page = await browser.get(link);
    expect(page.status).toBe(200);
    expect(await accountNamed(fields.user_name)).toEqual([]);

    expect((await browser.submit(link, {}, ACTIVATION)).body).toContain("Your account is ready");
    const account = only(await accountNamed(fields.user_name));
    expect(account).toMatchObject({ email: fields.email, isAdmin: false, isActive: true });
    expect(await signInStatus(fields.user_name, NEW)).toBe(303);
    expect((await browser.get(link)).status).toBe(404);
  });

  it("answers the same for an address that has an account, which gets another mail", async () => {
    const free = entered();
    const known = { ...entered(), email: user.email };
    const first = await browser.submit(SIGN_UP, free);
    const second = await new Browser(visit).submit(SIGN_UP, known);

    expect(second.status).toBe(200);
    expect(textOf(second.body).replaceAll(known.email, "ADDRESS")).toBe(
      textOf(first.body).replaceAll(free.email, "ADDRESS"),
    );
    expect(only(mailbox.to(user.email)).text).toContain("belongs to your account");
    const rows = await db.select().from(registrations).where(eq(registrations.email, user.email));
    expect(rows).toEqual([]);
  });

  it.each([
    ["a name that is taken", () => ({ user_name: user.name }), "already exists"],
    ["a reserved name", () => ({ user_name: "admin" }), "reserved"],
    ["a bad name", () => ({ user_name: "a b" }), "Username must consist"],
    ["a bad address", () => ({ email: "nowhere" }), "must be an e-mail address"],
    ["a short password", () => ({ password: "short", retype: "short" }), "at least 8"],
    ["two passwords", () => ({ retype: "another password" }), "differ"],
  ])("refuses %s, and writes nothing", async (_, change, message) => {
    const fields = { ...entered(), ...change() };
    const answer = await browser.submit(SIGN_UP, fields);

    expect(answer.status).toBe(422);
    expect(answer.body).toContain(message);
    expect(mailbox.to(fields.email)).toEqual([]);
    const rows = await db
      .select()
      .from(registrations)
      .where(eq(registrations.name, fields.user_name));
    expect(rows).toEqual([]);
  });

  it("reports that somebody else took the name in the meantime", async () => {
    const fields = entered();
    await browser.submit(SIGN_UP, fields);
    await make.user({ name: fields.user_name });
    const answer = await browser.submit(mailbox.lastLink(fields.email), {}, ACTIVATION);

    expect(answer.status).toBe(422);
    expect(await accountNamed(fields.user_name)).toHaveLength(1);
  });

  it("ends where nobody may register any more: the mailed link creates nothing", async () => {
    const fields = entered();
    await browser.submit(SIGN_UP, fields);
    const link = mailbox.lastLink(fields.email);
    expect((await browser.get(link)).status).toBe(200);
    const reader = new Browser(serviceWithMail().visit);

    expect((await reader.get(link)).status).toBe(404);
    const login = await reader.get("/user/login");
    const token = /name="_csrf" value="([0-9a-f]{64})"/.exec(String(login.body))?.[1] ?? "";
    const code = link.split("=")[1] ?? "";
    expect((await reader.post(ACTIVATION, { _csrf: token, code })).status).toBe(404);
    expect(await accountNamed(fields.user_name)).toEqual([]);
  });

  it("is limited from an address", async () => {
    const from = new Browser(visit, { "CF-Connecting-IP": "192.0.2.77" });
    const statuses: number[] = [];
    // The limit counts anew if its minute ends meanwhile.
    while (statuses.length < 11 && statuses.at(-1) !== 429) {
      statuses.push((await from.submit(SIGN_UP, entered())).status);
    }
    expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
    expect(statuses.at(-1)).toBe(429);
  });

  it("is off unless a setting allows it", async () => {
    const closed = serviceWithMail();
    const reader = new Browser(closed.visit);
    expect((await reader.get(SIGN_UP)).status).toBe(403);
    expect((await reader.get("/user/login")).body).not.toContain(SIGN_UP);
    const login = await reader.get("/user/login");
    const token = /name="_csrf" value="([0-9a-f]{64})"/.exec(String(login.body))?.[1] ?? "";
    const fields = entered();

    expect((await reader.post(SIGN_UP, { _csrf: token, ...fields })).status).toBe(403);
    expect(closed.mailbox.mails).toEqual([]);
  });
});

describe("an added address", () => {
  it("is confirmed by a mailed link", async () => {
    const email = `second-${user.email}`;
    const added = await visit("POST", "/api/v1/user/emails", {
      as: user,
      json: { emails: [email] },
    });
    expect(added.body).toContainEqual(expect.objectContaining({ email, verified: false }));
    expect(
      (await visit("GET", "/api/v1/user", { headers: basic(email, user.password) })).status,
    ).toBe(401);

    const link = mailbox.lastLink(email);
    expect((await browser.get(link)).body).toContain(user.name);
    const answer = await browser.submit(link, {}, "/user/activate_email");
    expect(answer.body).toContain("Your address is confirmed");
    expect(
      (await visit("GET", "/api/v1/user", { headers: basic(email, user.password) })).status,
    ).toBe(200);
    expect((await browser.get(link)).status).toBe(404);
  });

  it("is not confirmed by a link once it was removed", async () => {
    const email = `second-${user.email}`;
    await visit("POST", "/api/v1/user/emails", { as: user, json: { emails: [email] } });
    await visit("DELETE", "/api/v1/user/emails", { as: user, json: { emails: [email] } });

    expect((await browser.get(mailbox.lastLink(email))).status).toBe(404);
  });
});

describe("mails about an account", () => {
  const created = (name: string, email: string, fields: object = {}) => ({
    json: { username: name, email, password: "a first password", ...fields },
  });

  it("notify a user of the account that an administrator made, if asked to", async () => {
    const admin = await make.admin();
    const [name, other] = [freshName("notified"), freshName("other")];
    const path = "/api/v1/admin/users";
    const notified = created(name, `${name}@example.com`, { send_notify: true });
    expect((await visit("POST", path, { as: admin, ...notified })).status).toBe(201);
    const untold = created(other, `${other}@example.com`);
    expect((await visit("POST", path, { as: admin, ...untold })).status).toBe(201);

    const mail = only(mailbox.to(`${name}@example.com`));
    expect(mail.text).toContain(`the account ${name}`);
    expect(mail.text).not.toContain("a first password");
    expect(mailbox.lastLink(`${name}@example.com`)).toBe(FORGOTTEN);
    expect(mailbox.to(`${other}@example.com`)).toEqual([]);
  });

  it("report none that was refused", async () => {
    const admin = await make.admin();
    const taken = created(user.name, `new-${user.email}`, { send_notify: true });
    const answer = await visit("POST", "/api/v1/admin/users", { as: admin, ...taken });

    expect(answer.status).toBe(422);
    expect(mailbox.to(`new-${user.email}`)).toEqual([]);
  });

  it("notify the former address of a changed password", async () => {
    const admin = await make.admin();
    const json = { password: NEW, email: `next-${user.email}` };
    const path = `/api/v1/admin/users/${user.name}`;
    expect((await visit("PATCH", path, { as: admin, json })).status).toBe(200);

    expect(only(mailbox.to(user.email)).subject).toContain("Your password was changed");
    expect(mailbox.to(json.email)).toEqual([]);
  });

  it("report removed second factors", async () => {
    const admin = await make.admin();
    await db.update(users).set({ hasTotp: true }).where(eq(users.id, user.id));
    const path = `/api/v1/admin/users/${user.name}/second_factors`;
    expect((await visit("DELETE", path, { as: admin })).status).toBe(204);

    expect(only(mailbox.to(user.email)).subject).toContain("Your second factors were removed");
  });
});

describe("the outbox", () => {
  const mailsTo = (address: string) => db.select().from(mails).where(eq(mails.address, address));

  it("keeps what was refused, sealed, and sends it later", async () => {
    mailbox.isBroken = true;
    await browser.submit(FORGOTTEN, { email: user.email });
    mailbox.isBroken = false;
    const waiting = only(await mailsTo(user.email));
    expect(waiting.attempts).toBe(1);
    expect(waiting.sealedContent).toMatch(/^1\.test\./);
    expect(waiting.dueAt).toBeGreaterThan(Date.now());

    const later = systemCtx({ MAIL: mailbox }, waiting.dueAt, MAIL_SETTINGS);
    await sendDueMails(later);
    expect(mailbox.to(user.email)).toHaveLength(1);
    expect(await mailsTo(user.email)).toEqual([]);
    await sendDueMails(later);
    expect(mailbox.to(user.email)).toHaveLength(1);
  });

  it("gives a mail up after eight attempts", async () => {
    const broken = new Mailbox();
    broken.isBroken = true;
    mailbox.isBroken = true;
    await browser.submit(FORGOTTEN, { email: user.email });
    mailbox.isBroken = false;
    for (let attempts = 1; attempts < 8; attempts++) {
      const waiting = only(await mailsTo(user.email));
      expect(waiting.attempts).toBe(attempts);
      await sendDueMails(systemCtx({ MAIL: broken }, waiting.dueAt, MAIL_SETTINGS));
    }
    expect(await mailsTo(user.email)).toEqual([]);
  });

  it("is deleted with the account", async () => {
    mailbox.isBroken = true;
    await browser.submit(FORGOTTEN, { email: user.email });
    mailbox.isBroken = false;
    expect(await mailsTo(user.email)).toHaveLength(1);
    await db.delete(users).where(eq(users.id, user.id));

    expect(await mailsTo(user.email)).toEqual([]);
  });
});

describe("purgeSignIns", () => {
  it("deletes what has ended, and nothing else", async () => {
    await Browser.signedIn(user, visit);
    await browser.submit(FORGOTTEN, { email: user.email });
    const stored = async () => [
      ...(await db.select({ id: sessions.id }).from(sessions).where(eq(sessions.userId, user.id))),
      ...(await db.select({ id: mailedCodes.codeHash }).from(mailedCodes).where(isCodeOf(user))),
    ];
    const now = Date.now();
    await purgeSignIns(systemCtx({}, now));
    expect(await stored()).toHaveLength(2);
    await db.update(mailedCodes).set({ expiresAt: now }).where(isCodeOf(user));
    await db.update(sessions).set({ expiresAt: now }).where(eq(sessions.userId, user.id));
    await purgeSignIns(systemCtx({}, now));

    expect(await stored()).toEqual([]);
  });
});
