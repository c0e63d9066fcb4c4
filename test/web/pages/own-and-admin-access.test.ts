import { beforeAll, describe, expect, it } from "vitest";

import { adminPages } from "../../../src/web/pages/admin/index.ts";
import { settingsPages } from "../../../src/web/pages/settings/index.ts";
import { Browser, SAME_ORIGIN } from "../../support/browser.ts";
import { makeActionSecret, makeActionVariable, makeRunner } from "../../support/action-values.ts";
import { makeHook, makeKeptDelivery } from "../../support/hooks.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeApplication } from "../../support/oauth.ts";
import { rowsOfService } from "../../support/rows-of-service.ts";

// SECURITY: who may open each page of an account's settings and of the administration, and send
// each of its forms. The routes themselves are the list, so that a new page is in it.

const routes = [...settingsPages, ...adminPages].flatMap(({ routes: all }) => all);
const of = (method: string): string[] => [
  ...new Set(routes.filter((each) => each.method === method).map(({ path }) => path)),
];
const isAdministration = (path: string): boolean => path.startsWith("/-/admin");

let admin: TestUser;
let user: TestUser;
let repo: TestRepo;
let applicationId: number;
/** The webhooks of the user and of the service. */
let hooks: Readonly<Record<"user" | "system", { hookId: number; deliveryId: number }>>;
/** The names of what belongs to the user, and of the service, by their noun. */
let names: Readonly<Record<string, string>>;
let runnerId: number;
let browsers: Readonly<Record<"anonymous" | "user" | "admin", Browser>>;
beforeAll(async () => {
  admin = await make.userWithPassword({ isAdmin: true });
  user = await make.userWithPassword();
  repo = await make.repo(user);
  applicationId = (await makeApplication(user)).id;
  const withDelivery = async (fields: Parameters<typeof makeHook>[0]) => {
    const hook = await makeHook(fields);
    return { hookId: hook.id, deliveryId: (await makeKeptDelivery(hook)).id };
  };
  hooks = {
    user: await withDelivery({ level: "user", ownerId: user.id, approverId: user.id }),
    system: await withDelivery({ level: "system", approverId: admin.id }),
  };
  names = {
    "/user/settings/actions/secrets": (await makeActionSecret({ ownerId: user.id })).name,
    "/user/settings/actions/variables": (await makeActionVariable({ ownerId: user.id })).name,
    "/-/admin/actions/variables": (await makeActionVariable({})).name,
    "/-/admin/quotas": user.name,
  };
  runnerId = (await makeRunner({ ownerId: user.id })).id;
  browsers = {
    anonymous: new Browser(),
    user: await Browser.signedIn(user),
    admin: await Browser.signedIn(admin),
  };
});

/** The id in the path of a route, of what belongs to the user. */
function idIn(path: string): number {
  if (path.includes("/oauth2")) return applicationId;
  if (path.includes("/runners")) return runnerId;
  return path.includes("/hooks") ? hooksAt(path).hookId : user.id;
}

const hooksAt = (path: string) => hooks[isAdministration(path) ? "system" : "user"];

/** The path of a route with what belongs to the user. */
const at = (path: string): string =>
  path
    .replace(":owner", user.name)
    .replace(":repo", repo.name)
    .replace(":type", "gitea")
    .replace(":name", names[path.replace("/:name", "")] ?? "")
    .replace(":delivery", String(hooksAt(path).deliveryId))
    .replace(/:id(?:\{[^}]*\})?/, String(idIn(path)));

const tokenOf = async (browser: Browser): Promise<string> => {
  const { body } = await browser.get("/user/settings");
  return /name="_csrf" value="([0-9a-f]{64})"/.exec(String(body))?.[1] ?? "";
};

const expectSignIn = async (path: string): Promise<void> => {
  const { status, headers } = await browsers.anonymous.get(at(path));
  expect(status).toBe(303);
  expect(headers.get("Location")).toContain("/user/login");
};

describe("a page", () => {
  it.each(of("GET").filter((path) => !isAdministration(path)))(
    "of one's own is for who is signed in: %s",
    async (path) => {
      await expectSignIn(path);
      const { status, headers, body } = await browsers.user.get(at(path));
      // The enrolment of an app leads back where none is under way.
      expect([200, 303], String(body)).toContain(status);
      expect(headers.get("Location") ?? "").not.toContain("/user/login");
    },
  );

  it.each(of("GET").filter(isAdministration))(
    "of the administration is for administrators: %s",
    async (path) => {
      await expectSignIn(path);
      const refused = await browsers.user.get(at(path));
      expect(refused.status).toBe(403);
      expect(refused.body).toContain("Only administrators of the service may open this page.");
      const seen = await browsers.admin.get(at(path));
      expect(seen.status, String(seen.body)).toBe(200);
    },
  );
});

describe("a form", () => {
  let before: Awaited<ReturnType<typeof rowsOfService>>;
  let tokens: Readonly<Record<"user" | "admin", string>>;
  beforeAll(async () => {
    before = await rowsOfService();
    tokens = { user: await tokenOf(browsers.user), admin: await tokenOf(browsers.admin) };
  });

  it.each(of("POST"))("is refused to who may not send it: %s", async (path) => {
    const elsewhere = { Origin: "https://elsewhere.example", "Sec-Fetch-Site": "cross-site" };
    const { user: token, admin: adminToken } = tokens;
    const sent = {
      anonymous: await browsers.anonymous.post(at(path), {}),
      "with the token of another session": await browsers.user.post(at(path), {
        _csrf: adminToken,
      }),
      "from another site": await browsers.admin.post(at(path), { _csrf: adminToken }, elsewhere),
      ...(isAdministration(path) && {
        "by a user": await browsers.user.post(at(path), { _csrf: token, ...FILLED }, SAME_ORIGIN),
      }),
    };
    for (const [how, { status }] of Object.entries(sent)) {
      expect([303, 403], how).toContain(status);
    }
  });

  // Once for all of them, since it reads the whole database.
  it("that was refused has written nothing", async () => {
    expect(await rowsOfService()).toEqual(before);
  });
});

/** Fields with which an administrator's form would do something. */
const FILLED = {
  task: "cleanup_audit_log",
  kind: "mail",
  id: "1",
  slug: "honor",
  username: "somebody-new",
  email: "new@example.org",
  password: "correct horse",
  visibility: "public",
  new_username: "renamed-by-nobody",
  title: "key",
  max_repo_creation: "1",
};
