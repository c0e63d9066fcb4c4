import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { users, type User } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { basic } from "../../support/call.ts";
import {
  ACCOUNT,
  authorizationCode,
  confirmationLink,
  factorDue,
  formTokenOf,
  mailbox,
  NEW_PASSWORD,
  onDatabase,
  passwordDue,
  refreshToken,
  resetLink,
  SECURITY,
  visit,
  waitingAuthenticator,
  World,
  writtenFor,
} from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { intercepted } from "../../support/intercepted-database.ts";
import { freshName } from "../../support/make.ts";
import { CALLBACK, makeCodeFor, refresh, exchange } from "../../support/oauth.ts";
import { sampleOf } from "../../support/sample.ts";

/**
 * Prepares a request that makes something of a credential. Its result says whether it was granted.
 */
type Prepare = (world: World) => Promise<() => Promise<unknown>>;

/** Prepares a form of a page that the account has open. */
const formOf =
  (path: string, action: string, fieldsOf: (world: World) => Record<string, string>): Prepare =>
  async (world) => {
    const browser = await world.browser();
    const token = formTokenOf((await browser.get(path)).body);
    return () => browser.post(action, { _csrf: token, ...fieldsOf(world) });
  };

const useOf =
  (make: typeof resetLink): Prepare =>
  async (world) =>
    (await make(world)).use;

const own = ({ user }: World) => ({ current_password: user.password });

/** What makes a credential, or changes how an account is signed in to. */
const USES: Readonly<Record<string, Prepare>> = {
  "a sign-in": async ({ user }) => {
    const browser = new Browser(visit);
    const token = formTokenOf((await browser.get("/user/login")).body);
    const fields = { _csrf: token, user_name: user.name, password: user.password };
    return () => browser.post("/user/login", fields);
  },
  "the code of a sign-in": useOf(factorDue),
  "a due new password": useOf(passwordDue),
  "a link to choose a new password": useOf(resetLink),
  "a link to confirm an address": useOf(confirmationLink),
  "an own new password": formOf(ACCOUNT, `${ACCOUNT}/password`, (world) => ({
    ...own(world),
    password: NEW_PASSWORD,
    retype: NEW_PASSWORD,
  })),
  "a new address": formOf(ACCOUNT, `${ACCOUNT}/emails/add`, (world) => ({
    ...own(world),
    email: `fourth-${world.user.email}`,
  })),
  "a new authenticator app": formOf(SECURITY, `${SECURITY}/two_factor/start`, own),
  "the first code of an authenticator app": async (world) => {
    const { works, use } = await waitingAuthenticator(world);
    await works();
    return use;
  },
  "the end of an authenticator app": async (world) => {
    await world.enrol();
    return formOf(SECURITY, `${SECURITY}/two_factor/disable`, own)(world);
  },
  "a token by a password": async ({ user }) => {
    const path = `/api/v1/users/${user.name}/tokens`;
    const headers = basic(user.name, user.password);
    return () => visit("POST", path, { headers, json: { name: "stolen", scopes: ["all"] } });
  },
  "a token by a session": formOf("/user/settings/tokens", "/user/settings/tokens", () => ({
    name: "stolen",
    "scope-user": "write",
  })),
  "a grant by a session": async (world) => {
    const { clientId } = await world.openApplication();
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: CALLBACK,
      response_type: "code",
      scope: "read:user",
    });
    return formOf(`/login/oauth/authorize?${query}`, "/login/oauth/grant", () => ({
      ...Object.fromEntries(query),
      granted: "true",
    }))(world);
  },
  "a code for an application": useOf(authorizationCode),
  "a refresh token": useOf(refreshToken),
};

const CHANGES: Readonly<Record<string, Partial<User>>> = {
  "the password changes": { passwordHash: "another" },
  "the account may not sign in": { isLoginProhibited: true },
};

/** A new password leaves what applications were granted. */
const LEFT = new Set(["a refresh token: the password changes"]);

const cases = Object.entries(USES).flatMap(([use, prepare]) =>
  Object.entries(CHANGES).map(([change, fields]) => ({ use, change, prepare, fields })),
);

// SECURITY: each call to D1 of a request is a moment at which something else may happen.
describe("while a request is under way, from the change on it grants nothing", () => {
  it.for(cases.filter(({ use, change }) => !LEFT.has(`${use}: ${change}`)))(
    "$use: $change",
    async ({ use, change, prepare, fields }) => {
      const undisturbed = await run(prepare);
      expect(undisturbed.after, "granted").not.toEqual(undisturbed.before);

      const calls = Array.from({ length: undisturbed.calls }, (_, at) => at);
      for (const at of sampleOf(calls, 3, `${use}: ${change}`)) {
        const { before, after } = await run(prepare, { at, fields });
        for (const [table, rows] of Object.entries(after)) {
          const allowed: readonly object[] = before[table as keyof typeof before];
          expect(allowed, `${table}, before call ${at}`).toEqual(
            expect.arrayContaining<object>(rows),
          );
        }
      }
    },
  );
});

/**
 * Runs a use of an account of its own, and changes the account before one of its calls to D1.
 *
 * @returns What is written when the change is made, or at the start, and at the end.
 */
async function run(prepare: Prepare, change?: { at: number; fields: Partial<User> }) {
  const world = await World.open();
  const use = await prepare(world);
  let calls = 0;
  let before = await writtenFor(world);
  const database = intercepted(env.DB, async (call) => {
    if (calls++ === change?.at) {
      await db.update(users).set(change.fields).where(eq(users.id, world.user.id));
      before = await writtenFor(world);
    }
    return call();
  });
  await onDatabase(database, use);
  return { calls, before, after: await writtenFor(world) };
}

/** What is used once, by as many browsers as need it. */
const ONCE: Readonly<Record<string, Prepare>> = {
  "a link to choose a new password": useOf(resetLink),
  "a link to confirm an address": useOf(confirmationLink),
  "a sign-in whose second factor is due": useOf(factorDue),
  "a sign-in whose new password is due": useOf(passwordDue),
  "a code for an application": async (world) => {
    const application = await world.openApplication();
    const code = await makeCodeFor(world.user, application);
    return async () => (await exchange(application, code, {}, visit)).status === 200;
  },
  "a refresh token": async (world) => {
    const application = await world.openApplication();
    const code = await makeCodeFor(world.user, application);
    const { body } = await exchange(application, code, {}, visit);
    return async () => (await refresh(application, body.refresh_token, {}, visit)).status === 200;
  },
  "a recovery code": async (world) => {
    const { recoveryCodes } = await world.enrol();
    return async () => {
      const browser = await Browser.signedIn(world.user, visit);
      const answer = await browser.submit("/user/two_factor", { passcode: recoveryCodes[9] ?? "" });
      return answer.status === 303;
    };
  },
  "a link of a registration": async () => {
    const name = freshName("new");
    const fields = { user_name: name, email: `${name}@example.com` };
    const password = { password: NEW_PASSWORD, retype: NEW_PASSWORD };
    await new Browser(visit).submit("/user/sign_up", { ...fields, ...password });
    const code = mailbox.lastLink(fields.email).split("=")[1] ?? "";
    return async () => {
      const browser = new Browser(visit);
      const token = formTokenOf((await browser.get("/user/login")).body);
      return (await browser.post("/user/activate", { _csrf: token, code })).status === 200;
    };
  },
};

describe("of 20 uses at once", () => {
  it.for(Object.entries(ONCE))("one succeeds: %s", async ([, prepare]) => {
    const use = await prepare(await World.open());
    const granted = await Promise.all(Array.from({ length: 20 }, use));

    expect(granted.filter((each) => each === true)).toHaveLength(1);
  });
});
