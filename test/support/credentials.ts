import { eq, inArray } from "drizzle-orm";

import { parseConfig } from "../../src/config.ts";
import {
  accessTokens,
  emailAddresses,
  mailedCodes,
  oauthGrants,
  pendingSignIns,
  sessions,
  totpSecrets,
  users,
} from "../../src/db/schema/index.ts";
import { makeUnsubscribeCode } from "../../src/domain/issues/notifications/unsubscribe-code.ts";
import { type Authenticator, Authenticator as App, enrol } from "./authenticator.ts";
import { Browser } from "./browser.ts";
import { basic } from "./call.ts";
import { db } from "./db.ts";
import { askBatch, makeLargeFile, pathTo } from "./large-files.ts";
import { MAIL_SETTINGS, Mailbox } from "./mails.ts";
import { freshName, make, type TestRepo, type TestUser } from "./make.ts";
import {
  exchange,
  makeApplication,
  makeCodeFor,
  makeTokens,
  refresh,
  type TestApplication,
} from "./oauth.ts";
import { SEALING_KEYS } from "./sealing.ts";
import { doorsWith } from "./service.ts";
import { SoftwareKey } from "./software-key.ts";

const SETTINGS = { ...MAIL_SETTINGS, DISABLE_REGISTRATION: "false" };
export const mailbox = new Mailbox();
let serve = doorsWith(SETTINGS, { MAIL: mailbox });

/** Requests a path of a service that mails, seals and registers. */
export const visit: typeof serve = (...request) => serve(...request);

/** Runs requests of `visit` on another database. */
export async function onDatabase<T>(database: D1Database, work: () => Promise<T>): Promise<T> {
  const usual = serve;
  serve = doorsWith(SETTINGS, { MAIL: mailbox, DB: database });
  try {
    return await work();
  } finally {
    serve = usual;
  }
}

export const ACCOUNT = "/user/settings/account";
export const SECURITY = "/user/settings/security";
export const NEW_PASSWORD = "a new password";
const SIGN_IN = "/user/login";

/** The token of the forms of a page. */
export const formTokenOf = (body: unknown): string =>
  /name="_csrf" value="([0-9a-f]{64})"/.exec(String(body))?.[1] ?? "";

/**
 * An account with what credentials are made from. A change of its name or password is noted here.
 */
export class World {
  readonly user: TestUser;
  readonly repo: TestRepo;
  readonly developer: TestUser;
  readonly admin: TestUser;
  app: Authenticator | undefined;
  /** The application that the account grants access, once a credential needs it. */
  application: TestApplication | undefined;
  /** A confirmed address besides the primary one. */
  readonly second: string;
  private signedIn: Promise<Browser> | undefined;

  private constructor(user: TestUser, repo: TestRepo, developer: TestUser, admin: TestUser) {
    this.user = user;
    this.repo = repo;
    this.developer = developer;
    this.admin = admin;
    this.second = `second-${user.email}`;
  }

  static async open(): Promise<World> {
    const user = await make.userWithPassword();
    const repo = await make.repo(user, { isPrivate: true });
    const world = new World(user, repo, await make.user(), await make.admin());
    await db.insert(emailAddresses).values({
      userId: user.id,
      email: world.second,
      lowerEmail: world.second,
      isActivated: true,
      isPrimary: false,
    });
    return world;
  }

  /** A browser in which the account is signed in, and which no credential of a test belongs to. */
  browser(): Promise<Browser> {
    return (this.signedIn ??= this.signIn());
  }

  async signIn(): Promise<Browser> {
    const browser = await Browser.signedIn(this.user, visit);
    if (this.app) await browser.submit("/user/two_factor", { passcode: this.recoveryCode() });
    return browser;
  }

  private spent = 0;
  recoveryCode(): string {
    this.spent += 1;
    return this.app?.recoveryCodes[this.spent - 1] ?? "";
  }

  /** Notes that an administrator has removed all second factors, which ends all sessions. */
  forgetFactors(): void {
    this.app = undefined;
    this.signedIn = undefined;
  }

  /** Sets up an authenticator app. */
  async enrol(): Promise<Authenticator> {
    return (this.app ??= await enrol(await this.browser(), this.user));
  }

  /** Adds a security key. */
  async addKey(): Promise<void> {
    const browser = await this.browser();
    const fields = { name: "ring", current_password: this.user.password };
    const { body } = await browser.submit(SECURITY, fields, `${SECURITY}/webauthn/start`);
    await answerChallenge(browser, body);
  }

  async openApplication(): Promise<TestApplication> {
    return (this.application ??= await makeApplication(this.developer));
  }

  edit(json: object): Promise<{ status: number }> {
    const { name } = this.user;
    return visit("PATCH", `/api/v1/admin/users/${name}`, { as: this.admin, json });
  }
}

/** Answers the page that asks for a new security key. */
export async function answerChallenge(browser: Browser, page: unknown): Promise<boolean> {
  const options = /data-options="([^"]*)"/.exec(String(page))?.[1] ?? "{}";
  const { challenge } = JSON.parse(options.replaceAll("&quot;", '"').replaceAll("&amp;", "&")) as {
    challenge: string;
  };
  const response = JSON.stringify(await (await SoftwareKey.make()).create(challenge));
  const sent = { _csrf: formTokenOf(page), name: "ring", response };
  const { status } = await browser.post(`${SECURITY}/webauthn/add`, sent);
  return status < 400 && status !== 303;
}

/** A credential that a test has made. */
export interface TestCredential {
  /** Whether it works. What can be used once is used by `use` alone. */
  works: () => Promise<boolean>;
  /** Uses it; the same as `works` for what can be used again and again. */
  use: () => Promise<boolean>;
  /** Lets its time run out. */
  expire?: () => Promise<unknown>;
}

type Make = (world: World) => Promise<TestCredential>;

const repeatable = (works: () => Promise<boolean>, expire?: TestCredential["expire"]) => ({
  works,
  use: works,
  ...(expire && { expire }),
});

const isOk = async (answer: Promise<{ status: number }>): Promise<boolean> =>
  (await answer).status === 200;

const past = () => Date.now() - 1;

/** The field of a form that a page without a session holds. */
async function postWithToken(
  path: string,
  fields: Record<string, string>,
  reader = new Browser(visit),
): Promise<{ status: number; location: string | null }> {
  const page = await reader.get("/user/forgot_password");
  const answer = await reader.post(path, { _csrf: formTokenOf(page.body), ...fields });
  return { status: answer.status, location: answer.headers.get("Location") };
}

const mailedCodesOf = (world: World) =>
  inArray(
    mailedCodes.addressId,
    db
      .select({ id: emailAddresses.id })
      .from(emailAddresses)
      .where(eq(emailAddresses.userId, world.user.id)),
  );

/** A mailed link, which a page shows as long as it is valid. */
function mailedLink(world: World, address: string, path: string, fields = {}): TestCredential {
  const link = mailbox.lastLink(address);
  const code = link.split("=")[1] ?? "";
  return {
    works: () => isOk(new Browser(visit).get(link)),
    use: async () => (await postWithToken(path, { code, ...fields })).status === 200,
    expire: () => db.update(mailedCodes).set({ expiresAt: past() }).where(mailedCodesOf(world)),
  };
}

export const resetLink: Make = async (world) => {
  await new Browser(visit).submit("/user/forgot_password", { email: world.second });
  const fields = { password: "a stolen password", retype: "a stolen password" };
  return mailedLink(world, world.second, "/user/recover_account", fields);
};

/** The address that `confirmationLink` confirms. */
export const third = ({ user }: World): string => `third-${user.email}`;

export const confirmationLink: Make = async (world) => {
  const json = { emails: [third(world)] };
  await visit("POST", "/api/v1/user/emails", { as: world.user, json });
  return mailedLink(world, third(world), "/user/activate_email");
};

export const unsubscribeLink: Make = async ({ user }) => {
  const config = parseConfig({ SEALING_KEYS });
  const code = await makeUnsubscribeCode(config, { userId: user.id, issueId: 1 });
  return repeatable(() =>
    isOk(visit("POST", `/user/unsubscribe?code=${encodeURIComponent(code)}`)),
  );
};

export const session: Make = async (world) => {
  const browser = await world.signIn();
  return repeatable(
    () => isOk(browser.get(SECURITY)),
    () => db.update(sessions).set({ expiresAt: past() }).where(eq(sessions.userId, world.user.id)),
  );
};

const expirePending = ({ user }: World) =>
  db.update(pendingSignIns).set({ expiresAt: past() }).where(eq(pendingSignIns.userId, user.id));

export const factorDue: Make = async (world) => {
  await world.enrol();
  const browser = await Browser.signedIn(world.user, visit);
  const passcode = world.recoveryCode();
  return {
    works: () => isOk(browser.get("/user/two_factor")),
    use: async () => {
      const answer = await postWithToken("/user/two_factor", { passcode }, browser);
      return answer.status === 303 && answer.location !== SIGN_IN;
    },
    expire: () => expirePending(world),
  };
};

export const passwordDue: Make = async (world) => {
  await world.edit({ must_change_password: true });
  const browser = await Browser.signedIn(world.user, visit);
  const fields = { password: "a stolen password", retype: "a stolen password" };
  return {
    works: () => isOk(browser.get("/user/change_password")),
    use: async () => {
      const answer = await postWithToken("/user/change_password", fields, browser);
      return answer.status === 303 && answer.location !== SIGN_IN;
    },
    expire: () => expirePending(world),
  };
};

export const waitingAuthenticator: Make = async (world) => {
  const start = `${SECURITY}/two_factor/start`;
  const enrolment = `${SECURITY}/two_factor/enroll`;
  const own = { current_password: world.user.password };
  const starter = await world.signIn();
  await starter.submit(SECURITY, own, start);
  const secretOf = (page: unknown) => /class="secret">([A-Z2-7]{32})</.exec(String(page))?.[1];
  const secret = secretOf((await starter.get(enrolment)).body) ?? "";
  let reader = starter;
  return {
    works: async () => {
      reader = await world.signIn();
      return secretOf((await reader.get(enrolment)).body) === secret;
    },
    use: async () => {
      const page = await reader.get(SECURITY);
      const passcode = new App(secret).code(-1);
      const answer = await reader.post(enrolment, { _csrf: formTokenOf(page.body), passcode });
      return answer.status === 200;
    },
    expire: () =>
      db
        .update(totpSecrets)
        .set({ createdAt: Date.now() - 60 * 60 * 1000 })
        .where(eq(totpSecrets.userId, world.user.id)),
  };
};

export const recoveryCode: Make = async (world) => {
  const { recoveryCodes } = await world.enrol();
  // The last ones: the account signs in with the first.
  const unused = [...recoveryCodes];
  return repeatable(async () => {
    const browser = await Browser.signedIn(world.user, visit);
    const passcode = unused.pop() ?? "";
    const answer = await postWithToken("/user/two_factor", { passcode }, browser);
    return answer.status === 303 && answer.location !== SIGN_IN;
  });
};

/** The password with which the account was made, which the isolate has hashed a moment ago. */
export const rememberedPassword: Make = async ({ user }) => {
  const { password } = user;
  return repeatable(() =>
    isOk(visit("GET", "/api/v1/user", { headers: basic(user.name, password) })),
  );
};

const asToken = (token: string, path = "/api/v1/user") => isOk(visit("GET", path, { token }));

const expireTokens = ({ user }: World) =>
  db.update(accessTokens).set({ expiresAt: past() }).where(eq(accessTokens.userId, user.id));

export const personalToken: Make = async (world) => {
  const token = await make.token(world.user);
  return repeatable(
    () => asToken(token),
    () => expireTokens(world),
  );
};

/** A token that is bound to a repository of the developer, where the account collaborates. */
export const boundToken: Make = async (world) => {
  const repo = await sharedRepo(world);
  const token = await make.token(world.user, { repos: [repo] });
  return repeatable(() => asToken(token, `/api/v1/repos/${repo.owner}/${repo.name}`));
};

const shared = new WeakMap<World, TestRepo>();

/** A private repository of the developer, where the account collaborates. */
export async function sharedRepo(world: World): Promise<TestRepo> {
  let repo = shared.get(world);
  if (!repo) {
    repo = await make.repo(world.developer, { isPrivate: true });
    await make.collaborator(repo, world.user, 2);
    shared.set(world, repo);
  }
  return repo;
}

const expireGrants = (world: World) =>
  db
    .update(oauthGrants)
    .set({ expiresAt: past(), codeExpiresAt: past() })
    .where(eq(oauthGrants.userId, world.user.id));

/**
 * A code for an application. Its first use is that of another code, which shows that such codes
 * work.
 */
export const authorizationCode: Make = async (world) => {
  const application = await world.openApplication();
  let code = await makeCodeFor(world.user, application);
  const another = await makeCodeFor(world.user, application);
  return {
    works: async () => {
      const tried = code;
      code = another;
      return isOk(exchange(application, tried, {}, visit));
    },
    use: () => isOk(exchange(application, code, {}, visit)),
    expire: () => expireGrants(world),
  };
};

export const grantedToken: Make = async (world) => {
  const { access } = await makeTokens(world.user, await world.openApplication());
  return repeatable(
    () => asToken(access),
    () => expireTokens(world),
  );
};

export const refreshToken: Make = async (world) => {
  const application = await world.openApplication();
  let { refresh: next } = await makeTokens(world.user, application);
  return repeatable(
    async () => {
      const { status, body } = await refresh(application, next, {}, visit);
      if (status === 200) next = body.refresh_token;
      return status === 200;
    },
    () => expireGrants(world),
  );
};

/** The secret that the application has now, by which it asks about tokens. */
export const clientSecret: Make = async (world) => {
  const application = { ...(await world.openApplication()) };
  const { access } = await makeTokens(world.user, application);
  return repeatable(async () => {
    const { body, status } = await visit("POST", "/login/oauth/introspect", {
      headers: basic(application.clientId, application.secret),
      body: new URLSearchParams({ token: access }),
    });
    return status === 200 && "active" in body;
  });
};

/** The token of a large file's upload, for a caller with a password or a token. */
const uploadToken =
  (headersOf: (world: World) => Promise<Record<string, string>>): Make =>
  async (world) => {
    const repo = await sharedRepo(world);
    const file = makeLargeFile(freshName("file"));
    const asked = [{ oid: file.oid, size: file.size }];
    const headers = await headersOf(world);
    const { body } = await askBatch(repo, "upload", asked, { headers }, visit);
    const { header } = body.objects[0].actions.upload;
    const path = pathTo(repo, `objects/${file.oid}/${file.size}`);
    return repeatable(() => isOk(visit("PUT", path, { headers: header, body: file.bytes })));
  };

const withPassword = async ({ user }: World) => basic(user.name, user.password);
const withToken = async ({ user }: World) => basic(user.name, await make.token(user));

export const uploadByPassword = uploadToken(withPassword);
export const uploadByToken = uploadToken(withToken);

const registryToken =
  (headersOf: (world: World) => Promise<Record<string, string>>): Make =>
  async (world) => {
    const path = "/v2/token?service=container_registry";
    const { body } = await visit("GET", path, { headers: await headersOf(world) });
    const headers = { Authorization: `Bearer ${body.token}` };
    return repeatable(() => isOk(visit("GET", "/v2/", { headers })));
  };

export const registryByPassword = registryToken(withPassword);
export const registryByToken = registryToken(withToken);

/** What the use of a credential may write about an account. */
export const writtenFor = async ({ user: { id } }: World) => ({
  account: await db
    .select({ passwordHash: users.passwordHash, hasTotp: users.hasTotp })
    .from(users)
    .where(eq(users.id, id)),
  addresses: await db.select().from(emailAddresses).where(eq(emailAddresses.userId, id)),
  apps: await db.select().from(totpSecrets).where(eq(totpSecrets.userId, id)),
  sessions: await db.select({ id: sessions.id }).from(sessions).where(eq(sessions.userId, id)),
  tokens: await db
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(eq(accessTokens.userId, id)),
  grants: await db
    .select({ id: oauthGrants.id })
    .from(oauthGrants)
    .where(eq(oauthGrants.userId, id)),
});
