import { blocks, lfsLocks, publicKeys, type User } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { Browser } from "./browser.ts";
import { formTokenOf } from "./credentials.ts";
import { db } from "./db.ts";
import { grantsOf } from "../../src/web/pages/organization-settings/teams.tsx";
import {
  type LevelRow,
  makeActionSecret,
  makeActionVariable,
  makeRunner,
} from "./action-values.ts";
import { makeHook, makeKeptDelivery } from "./hooks.ts";
import { freshName, make, type TestRepo, type TestUser } from "./make.ts";
import { makePushMirror } from "./mirror-rows.ts";
import { makeRule, makeRuleset, makeTagRule } from "./protections.ts";

/** What the pages of settings are about: an organization, and a private repository of it. */
export interface SettingsScene {
  readonly org: User;
  readonly repo: TestRepo;
  /** The values of the parameters of the pages' addresses, by what stands before them. */
  readonly values: Readonly<Record<string, string>>;
  /** Things that forms name. */
  readonly ids: Readonly<Record<"key" | "lock", string>>;
  readonly teamGrants: string;
  readonly ruleName: string;
  readonly mirrorName: string;
  /** A user whom the organization blocks. */
  readonly blocked: User;
}

/** @param owner The owner of the organization. */
export async function makeSettingsScene(
  owner: TestUser,
  people: { readers?: TestUser[]; writers?: TestUser[]; administrators?: TestUser[] } = {},
): Promise<SettingsScene> {
  const org = await make.org([owner]);
  const repo = await make.repo(org, { isPrivate: true });
  const { readers = [], writers = [], administrators = [] } = people;
  for (const user of readers) await make.collaborator(repo, user, 1);
  for (const user of writers) await make.collaborator(repo, user, 2);
  for (const user of administrators) await make.collaborator(repo, user, 3);
  const team = await make.team(org, {
    name: "crew",
    all: false,
    units: { code: 2 },
  });
  const hooks = [
    await makeHook({ level: "repository", repoId: repo.id, approverId: owner.id }),
    await makeHook({ level: "organization", ownerId: org.id, approverId: owner.id }),
  ] as const;
  const deliveries = [await makeKeptDelivery(hooks[0]), await makeKeptDelivery(hooks[1])] as const;
  const actionsOf = async (level: LevelRow) => ({
    secret: (await makeActionSecret(level)).name,
    variable: (await makeActionVariable(level)).name,
    runner: String((await makeRunner(level)).id),
  });
  const actions = [
    await actionsOf({ repoId: repo.id }),
    await actionsOf({ ownerId: org.id }),
  ] as const;
  const [userId, repoId, createdAt] = [owner.id, repo.id, 1000];
  const key = {
    userId,
    repoId,
    title: "key",
    content: "",
    fingerprint: freshName("SHA256"),
    createdAt,
  };
  const lock = { repoId, path: "locked.bin", ownerId: userId, lockedAt: createdAt };
  const blocked = await make.user();
  await db.insert(blocks).values({ blockerId: org.id, blockedId: blocked.id, createdAt });
  return {
    org,
    repo,
    blocked,
    ids: {
      key: String(only(await db.insert(publicKeys).values(key).returning()).id),
      lock: String(only(await db.insert(lfsLocks).values(lock).returning()).id),
    },
    teamGrants: grantsOf(team),
    ruleName: (await makeRule(repo)).name,
    mirrorName: (await makePushMirror(repo)).remoteName,
    values: {
      "/:owner": org.name,
      "/:repo": repo.name,
      "/:org": org.name,
      "/:team": team.name,
      "/:type": "gitea",
      "/tags/:id": String((await makeTagRule(repo)).id),
      "/rulesets/:id": String((await makeRuleset(org)).id),
      "/:repo/settings/actions/secrets/:name": actions[0].secret,
      "/:org/settings/actions/secrets/:name": actions[1].secret,
      "/:repo/settings/actions/variables/:name": actions[0].variable,
      "/:org/settings/actions/variables/:name": actions[1].variable,
      "/:repo/settings/actions/runners/:id": actions[0].runner,
      "/:org/settings/actions/runners/:id": actions[1].runner,
      "/:repo/settings/hooks/:id": String(hooks[0].id),
      "/:org/settings/hooks/:id": String(hooks[1].id),
      "/:repo/settings/hooks/:id/deliveries/:delivery": String(deliveries[0].id),
      "/:org/settings/hooks/:id/deliveries/:delivery": String(deliveries[1].id),
    },
  };
}

/** The address of a page of settings by its pattern. Each parameter needs a value. */
export function addressIn({ values }: SettingsScene, pattern: string): string {
  const parts = pattern.split("/");
  return parts
    .map((part, at) => {
      if (!part.startsWith(":")) return part;
      const before = parts.slice(0, at + 1).join("/");
      const known = Object.entries(values)
        .filter(([end]) => before.endsWith(end))
        .toSorted(([a], [b]) => b.length - a.length);
      if (!known[0]) throw new Error(`${pattern} needs a value of ${part} in makeSettingsScene`);
      return known[0][1];
    })
    .join("/");
}

/** A reader with the token that forms of theirs hold. */
export interface Sender {
  readonly browser: Browser;
  readonly token: string;
}

export async function makeSender(user: TestUser): Promise<Sender> {
  const browser = await Browser.signedIn(user);
  const { body } = await browser.get("/user/settings/account");
  return { browser, token: formTokenOf(body) };
}
