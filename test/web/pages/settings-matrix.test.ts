import { beforeAll, describe, expect, it } from "vitest";

import { organizationSettingsParts } from "../../../src/web/pages/organization-settings/index.ts";
import { roleOf, type SettingsRole } from "../../../src/web/pages/owner-settings/settings-part.ts";
import { repositorySettingsParts } from "../../../src/web/pages/repository-settings/index.ts";
import { Browser } from "../../support/browser.ts";
import { type Answer, visit } from "../../support/call.ts";
import { makeFiles } from "../../support/files.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeSshKey } from "../../support/keys.ts";
import { NOWHERE } from "../../support/mirror-rows.ts";
import { storeRefs } from "../../support/push.ts";
import { withoutQueueConsumer } from "../../support/queue-consumer.ts";
import { rowsOfOrganization } from "../../support/rows-of-organization.ts";
import { rowsOfRepository } from "../../support/rows-of-repository.ts";
import {
  addressIn,
  makeSender,
  makeSettingsScene,
  type Sender,
  type SettingsScene,
} from "../../support/settings-scenes.ts";

// Who may open each page of settings, and send each of its forms: by the list of pages, so that a
// new one is tested by itself. Its parameters need values in `makeSettingsScene`, and a form that
// needs fields an example below.

const ROLES = [
  "nobody",
  "a stranger",
  "a reader",
  "a writer",
  "a member of the organization",
  "an administrator of the repository",
  "an owner of the organization",
  "an administrator of the service",
] as const;
type Role = (typeof ROLES)[number];

const SITE: readonly Role[] = ["an owner of the organization", "an administrator of the service"];
/** Who may do what needs a role, of a repository and of an organization. */
const ALLOWED: Readonly<
  Record<"repository" | "organization", Record<SettingsRole, readonly Role[]>>
> = {
  repository: {
    member: [],
    admin: ["an administrator of the repository", ...SITE],
    owner: SITE,
  },
  organization: {
    member: ["a member of the organization", ...SITE],
    admin: SITE,
    owner: SITE,
  },
};

interface Form {
  readonly of: "repository" | "organization";
  readonly path: string;
  readonly action: string;
  readonly role: SettingsRole;
}
interface Page extends Pick<Form, "of" | "path"> {}

const LISTS = { repository: repositorySettingsParts, organization: organizationSettingsParts };
const KINDS = ["repository", "organization"] as const;

const pages: readonly Page[] = KINDS.flatMap((of) =>
  LISTS[of].flatMap(({ path, show }) => (show ? [{ of, path }] : [])),
);
const forms: readonly Form[] = KINDS.flatMap((of) =>
  LISTS[of].flatMap((part) =>
    Object.keys(part.actions).map((action) => ({
      of,
      path: part.path,
      action,
      role: roleOf(part, action),
    })),
  ),
);

let users: Record<Exclude<Role, "nobody">, TestUser>;
let senders: Record<Role, Sender>;
let scene: SettingsScene;
beforeAll(async () => {
  const [stranger, reader, writer, member, administrator, owner] = (await Promise.all(
    Array.from({ length: 6 }, () => make.userWithPassword()),
  )) as [TestUser, TestUser, TestUser, TestUser, TestUser, TestUser];
  users = {
    "a stranger": stranger,
    "a reader": reader,
    "a writer": writer,
    "a member of the organization": member,
    "an administrator of the repository": administrator,
    "an owner of the organization": owner,
    "an administrator of the service": await make.userWithPassword({ isAdmin: true }),
  };
  const signedIn = await Promise.all(
    Object.entries(users).map(async ([role, user]) => [role, await makeSender(user)] as const),
  );
  senders = {
    nobody: { browser: new Browser(visit, { Accept: "text/html" }), token: "" },
    ...(Object.fromEntries(signedIn) as Record<Exclude<Role, "nobody">, Sender>),
  };
  scene = await makeScene();
});

async function makeScene(): Promise<SettingsScene> {
  const made = await makeSettingsScene(users["an owner of the organization"], {
    readers: [users["a reader"]],
    writers: [users["a writer"]],
    administrators: [users["an administrator of the repository"]],
  });
  const { id } = await make.team(made.org, { name: "members", units: { issues: 1 } });
  await make.member(made.org, { id }, users["a member of the organization"]);
  return made;
}

const send = (role: Role, { path, action }: Form, at: SettingsScene, fields = {}) =>
  senders[role].browser.post(addressIn(at, path), {
    _csrf: senders[role].token,
    action,
    ...fields,
  });

const rowsOf = async ({ repo, org }: SettingsScene) => [
  await rowsOfRepository(repo.id),
  await rowsOfOrganization(org.id),
];

/** What an answer leads to. */
function outcomeOf({ status, headers }: Answer): number | "sign-in" | "refused session" {
  if (headers.get("location")?.includes("/user/login")) return "sign-in";
  // What was typed is shown again to who is signed out by now.
  return status === 403 ? "refused session" : status;
}

describe.each(pages)("the page $path", ({ of, path }) => {
  it.each(ROLES)("for %s", async (role) => {
    const answer = await senders[role].browser.get(addressIn(scene, path));

    const expected = ALLOWED[of].admin.includes(role) ? 200 : 404;
    expect(outcomeOf(answer)).toBe(role === "nobody" ? "sign-in" : expected);
  });
});

describe("a form of the settings", () => {
  it.each(ROLES)("does nothing for %s where they may not send it", async (role) => {
    const before = await rowsOf(scene);
    const refused = forms.filter((form) => !ALLOWED[form.of][form.role].includes(role));
    const expected = role === "nobody" ? ["sign-in", "refused session"] : [404];
    for (const form of refused) {
      const answer = await send(role, form, scene, example(form, scene));
      expect(expected, `${form.path} ${form.action}`).toContain(outcomeOf(answer));
    }
    expect(await rowsOf(scene)).toEqual(before);
  });

  it("does nothing without the token of its sender, or from another site", async () => {
    const before = await rowsOf(scene);
    const { browser, token } = senders["an owner of the organization"];
    for (const form of forms) {
      const to = addressIn(scene, form.path);
      const fields = { action: form.action, ...example(form, scene) };
      const stale = await browser.post(to, { ...fields, _csrf: "0".repeat(64) });
      const foreign = await browser.post(
        to,
        { ...fields, _csrf: token },
        { Origin: "https://other.example", "Sec-Fetch-Site": "cross-site" },
      );
      expect([stale.status, foreign.status], `${form.path} ${form.action}`).toEqual([403, 403]);
    }
    expect(await rowsOf(scene)).toEqual(before);
  });

  it.each(forms)("is taken from who may send it: $path $action", async (form) => {
    const lowest = ALLOWED[form.of][form.role][0] as Role;
    await withoutQueueConsumer(async () => {
      const own = await makeScene();
      const { oid, pack } = makeFiles({ file: "text" });
      await storeRefs(own.repo, [{ ref: "refs/heads/main", oid }], pack);
      const { status, body } = await send(lowest, form, own, example(form, own));
      expect(status, String(body)).toBe(REFUSED_HERE[keyOf(form)] ?? 303);
    });
  });
});

/** Forms that need what a scene lacks, with the status of the refusal that says so. */
const REFUSED_HERE: Readonly<Record<string, number>> = {
  // A file has to be chosen.
  "repository  avatar": 422,
  "organization  avatar": 422,
  // The organization leaves its teams to its owners.
  "repository /collaboration add_team": 403,
  "repository /collaboration delete_team": 403,
  // The repository is no mirror, and no key seals credentials.
  "repository /mirrors mirror-sync": 400,
  // No key seals secrets and registration tokens.
  "repository /actions/secrets create": 403,
  "repository /actions/secrets/:name update": 403,
  "repository /actions/runners/new reset": 403,
  "organization /actions/secrets create": 403,
  "organization /actions/secrets/:name update": 403,
  "organization /actions/runners/new reset": 403,
  // The organization has a repository.
  "organization  delete": 422,
};

/** A form by its page below the settings. */
const keyOf = ({ of, path, action }: Form): string =>
  `${of} ${path.split("settings")[1] ?? path} ${action}`;

type Fields = Record<string, string>;

/** The fields of a form that is taken. */
function example(form: Form, at: SettingsScene): Fields {
  const found =
    EXAMPLES[`${form.of} ${form.path.split("settings")[1] ?? form.path} ${form.action}`];
  return typeof found === "function" ? found(at) : (found ?? {});
}

const HOOK: Fields = {
  url: "https://receiver.example/hook",
  content_type: "json",
  "event-push": "on",
  active: "on",
};
const SECRET: Fields = { name: "NEW_SECRET", data: "value" };
const VARIABLE: Fields = { name: "NEW_VARIABLE", value: "value" };
const RULE: Fields = { rule_name: "release/**", required_approvals: "1" };
const TEAM: Fields = { team_name: "builders", "unit-code": "write", repo_access: "chosen" };

const EXAMPLES: Readonly<Record<string, Fields | ((at: SettingsScene) => Fields)>> = {
  "repository  update": ({ repo }) => ({ name: repo.name, description: "Another" }),
  "repository  topics": { topics: "one, two" },
  "repository  units": { has_code: "on", tracker: "internal", wiki: "off", projects_mode: "all" },
  "repository  pulls": { allow_squash_merge: "on", default_merge_style: "squash" },
  "repository  visibility": ({ repo }) => ({ repo_name: repo.name, visibility: "public" }),
  "repository  expiry": { days: "30", expiry_action: "archive" },
  "repository  transfer": ({ repo }) => ({
    repo_name: repo.name,
    new_owner: users["a stranger"].name,
  }),
  "repository  delete": ({ repo }) => ({ repo_name: repo.name }),
  "repository /collaboration add": () => ({
    collaborator: users["a stranger"].name,
    permission: "read",
  }),
  "repository /collaboration delete": () => ({ collaborator: users["a reader"].name }),
  "repository /collaboration add_team": ({ values }) => ({ team: values["/:team"] ?? "" }),
  "repository /collaboration delete_team": ({ values }) => ({ team: values["/:team"] ?? "" }),
  "repository /branches delete": ({ ruleName }) => ({ rule: ruleName }),
  "repository /keys add": { title: "A key", key: makeSshKey().line },
  "repository /keys delete": ({ ids }) => ({ id: ids.key }),
  "repository /mirrors push-mirror-add": { remote_address: NOWHERE, interval: "0" },
  "repository /mirrors push-mirror-remove": ({ mirrorName }) => ({ remote_name: mirrorName }),
  "repository /lfs/locks delete": ({ ids }) => ({ id: ids.lock }),
  "organization /blocked_users unblock": ({ blocked }) => ({ name: blocked.name }),
  "organization  delete": ({ org }) => ({ org_name: org.name }),
  "repository /branches/edit save": RULE,
  "repository /tags create": () => ({
    name_pattern: "r*",
    whitelist_usernames: users["a writer"].name,
  }),
  "repository /tags delete": ({ values }) => ({ id: values["/tags/:id"] ?? "" }),
  "repository /tags/:id save": () => ({
    name_pattern: "r*",
    whitelist_usernames: users["a writer"].name,
  }),
  "repository /hooks delete": ({ values }) => ({ id: values["/:repo/settings/hooks/:id"] ?? "" }),
  "repository /hooks/:type/new create": HOOK,
  "repository /hooks/:id update": HOOK,
  "repository /hooks/:id redeliver_failed": { since: "2020-01-01" },
  "repository /actions/secrets create": SECRET,
  "repository /actions/secrets delete": ({ values }) => ({
    name: values["/:repo/settings/actions/secrets/:name"] ?? "",
  }),
  "repository /actions/secrets/:name update": SECRET,
  "repository /actions/variables create": VARIABLE,
  "repository /actions/variables delete": ({ values }) => ({
    name: values["/:repo/settings/actions/variables/:name"] ?? "",
  }),
  "repository /actions/variables/:name update": VARIABLE,
  "repository /actions/runners delete": ({ values }) => ({
    id: values["/:repo/settings/actions/runners/:id"] ?? "",
  }),
  "organization /actions/secrets create": SECRET,
  "organization /actions/secrets delete": ({ values }) => ({
    name: values["/:org/settings/actions/secrets/:name"] ?? "",
  }),
  "organization /actions/secrets/:name update": SECRET,
  "organization /actions/variables create": VARIABLE,
  "organization /actions/variables delete": ({ values }) => ({
    name: values["/:org/settings/actions/variables/:name"] ?? "",
  }),
  "organization /actions/variables/:name update": VARIABLE,
  "organization /actions/runners delete": ({ values }) => ({
    id: values["/:org/settings/actions/runners/:id"] ?? "",
  }),
  "repository /lfs/locks add": { path: "large.bin" },
  "organization  update": { full_name: "Another", visibility: "public" },
  "organization  rename": ({ org }) => ({ org_name: org.name, new_name: `${org.name}-2` }),
  "organization /rulesets delete": ({ values }) => ({ id: values["/rulesets/:id"] ?? "" }),
  "organization /rulesets/new create": RULE,
  "organization /rulesets/:id save": { updated_at: "1000" },
  "organization /hooks delete": ({ values }) => ({ id: values["/:org/settings/hooks/:id"] ?? "" }),
  "organization /hooks/:type/new create": HOOK,
  "organization /hooks/:id update": HOOK,
  "organization /hooks/:id test": ({ repo }) => ({ repo: repo.name }),
  "organization /hooks/:id redeliver_failed": { since: "2020-01-01" },
  "organization /blocked_users block": () => ({ blockee: users["a stranger"].name }),
  "organization /org/:org/members/action remove": () => ({
    member: users["a member of the organization"].name,
  }),
  "organization /org/:org/teams/new create": TEAM,
  "organization /org/:org/teams/:team/edit update": ({ teamGrants }) => ({
    ...TEAM,
    seen: teamGrants,
  }),
  "organization /org/:org/teams/:team/edit add_member": () => ({
    member: users["a stranger"].name,
  }),
  "organization /org/:org/teams/:team/edit add_repository": ({ repo }) => ({
    repo_name: repo.name,
  }),
  "organization /org/:org/teams/:team/edit remove_repository": ({ repo }) => ({
    repo_name: repo.name,
  }),
};
