import { sql } from "drizzle-orm";

import {
  ACCESS,
  everyUnit,
  repositories,
  users,
  type Access,
  type Repository,
  type TeamUnits,
  type User,
} from "../../../src/db/schema/index.ts";
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../../src/domain/repos/repository/default-settings.ts";
import { db } from "../../support/db.ts";
import { freshName } from "../../support/make.ts";
import { GRANTS, SWITCHED } from "./expectation.ts";

/** A user with one role, in every organization and every repository where the role applies. */
export interface Person {
  readonly user: User;
  readonly role: string;
}

/** A repository under test. */
export interface Target {
  readonly repo: Repository;
  readonly owner: User;
  /** The configuration of enabled units, by its name in the table. */
  readonly switched: string;
}

/** The grants of a team, and the repositories of its organization that it reaches. */
interface TeamOf {
  readonly access: Access;
  readonly units: TeamUnits;
  readonly reach: "all" | "this" | "another";
}

const mixed = (reach: TeamOf["reach"]): TeamOf => ({
  access: ACCESS.none,
  units: { code: 1, issues: 2, pulls: 0, releases: 4, wiki: 3 },
  reach,
});

/** The teams in which a role is a member. Admin teams list no units. */
const TEAMS: Readonly<Record<string, readonly TeamOf[]>> = {
  "member without a team": [],
  "organization owner": [{ access: ACCESS.owner, units: {}, reach: "all" }],
  "team that administers": [{ access: ACCESS.admin, units: {}, reach: "all" }],
  "team that administers another": [{ access: ACCESS.admin, units: {}, reach: "another" }],
  "team that reads": [{ access: ACCESS.read, units: everyUnit(ACCESS.read), reach: "all" }],
  "team that writes": [{ access: ACCESS.write, units: everyUnit(ACCESS.write), reach: "this" }],
  "team of mixed units": [mixed("all")],
  "team of mixed units, for this": [mixed("this")],
  "team of mixed units, for another": [mixed("another")],
  "team that gives nothing": [{ access: ACCESS.none, units: { code: 0, issues: 0 }, reach: "all" }],
  "two teams": [
    mixed("all"),
    { access: ACCESS.none, units: { code: 2, pulls: 1, actions: 2, wiki: 1 }, reach: "this" },
  ],
  "two teams, one for another": [
    mixed("this"),
    { access: ACCESS.none, units: { code: 3 }, reach: "another" },
  ],
  "mixed team and collaborator": [mixed("all")],
};

const COLLABORATIONS: Readonly<Record<string, Access>> = {
  "collaborator who reads": ACCESS.read,
  "collaborator who writes": ACCESS.write,
  "collaborator who administers": ACCESS.admin,
  "mixed team and collaborator": ACCESS.read,
};

/** Whether a role makes its holder a member of each organization. */
export const isMember = (role: string): boolean => TEAMS[role] !== undefined;

/** The organization to which each repository is offered, and the roles of its members. */
const RECIPIENT = "recipient";
const IN_RECIPIENT: Readonly<Record<string, { readonly canCreate: 0 | 1 }>> = {
  "creator in the recipient": { canCreate: 1 },
  "member of the recipient": { canCreate: 0 },
};

const BLOCKED = "blocked by the owner";

const VISIBILITIES = ["public", "limited", "private"] as const;
type Kind = "plain" | "restricted" | "admin";

/** The users who own repositories. */
const OWNERS = [
  ...VISIBILITIES.map((visibility) => ["plain", visibility] as const),
  ["restricted", "public"],
  ["admin", "limited"],
] as const;

/** The roles of the other users, by kind; for administrators a few roles suffice. */
const KINDS: Readonly<Record<Kind, readonly string[]>> = {
  plain: [...GRANTS.keys()],
  restricted: [...GRANTS.keys()],
  admin: ["stranger", "member without a team", "team of mixed units"],
};

/** The columns that differ from the defaults, by configuration of units. */
const SETTINGS: Readonly<Record<string, object>> = {
  "no code, no pulls": { has_code: 0, has_pull_requests: 0 },
  "only code": {
    has_issues: 0,
    has_pull_requests: 0,
    has_releases: 0,
    has_wiki: 0,
    has_projects: 0,
    has_packages: 0,
    has_actions: 0,
  },
  "tracker and wiki elsewhere": {
    external_wiki_url: "https://wiki.example",
    issue_settings: JSON.stringify({
      ...DEFAULT_ISSUE_SETTINGS,
      external: { url: "https://tracker.example", format: "", style: "", regexpPattern: "" },
    }),
  },
  "wiki off, with an address": { has_wiki: 0, external_wiki_url: "https://wiki.example" },
};

/** The name of a repository that no role applies to. */
const ANOTHER = "another";

export interface AccessWorld {
  readonly people: readonly Person[];
  readonly targets: readonly Target[];
  /** A word in the name of each repository. */
  readonly word: string;
  /** Two bound tokens: one bound to every repository under test, one bound to others. */
  readonly tokenIds: { readonly here: number; readonly elsewhere: number };
}

/**
 * Creates every user, organization and repository of the tables, with one statement for each kind
 * of row.
 */
export async function makeAccessWorld(): Promise<AccessWorld> {
  const word = freshName("access").replaceAll("-", "");
  const isOurs = sql`substr(${users.name}, 1, ${word.length}) = ${word}`;
  await insert("users", accountRows(word));
  const accounts = await db.select().from(users).where(isOurs);
  const orgs = accounts.filter(
    ({ kind, description }) => kind === "organization" && description !== RECIPIENT,
  );
  const owners = accounts.filter(({ description }) => description === "owner");

  const rows = [...orgs, ...owners].flatMap((owner) =>
    [0, 1].flatMap((isPrivate) =>
      [...SWITCHED.keys()].map((switched) => repositoryRow(word, owner, switched, isPrivate)),
    ),
  );
  const others = orgs.map((owner) => repositoryRow(word, owner, ANOTHER, 1));
  await insert("repositories", [...rows, ...others]);
  const repos = await db
    .select()
    .from(repositories)
    .where(sql`${repositories.ownerId} in (select id from ${users} where ${isOurs})`);

  const people = accounts
    .filter(({ kind }) => kind === "user")
    .map((user) => ({ user, role: user.description }));
  await assignRoles(word, orgs, repos, people);
  await offerRepositories(word, accounts, repos, people);
  await blockPeople([...orgs, ...owners], people);
  return {
    people,
    targets: repos
      .filter(({ description }) => description !== ANOTHER)
      .map((repo) => ({
        repo,
        owner: accounts.find(({ id }) => id === repo.ownerId) as User,
        switched: repo.description,
      })),
    word,
    tokenIds: await makeTokens(people[0]?.user as User, repos),
  };
}

/**
 * Inserts rows with the same columns, bound as one JSON value, since D1 binds at most a hundred
 * values.
 */
async function insert(table: string, rows: readonly object[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const values = names.map((name) => sql`value ->> ${sql.raw(`'$.${name}'`)}`);
  await db.run(sql`
    insert into ${sql.raw(table)} (${sql.raw(names.join(", "))})
    select ${sql.join(values, sql`, `)} from json_each(${JSON.stringify(rows)})`);
}

/** A row for each account; a user's description holds the role. */
function accountRows(word: string): object[] {
  const row = (name: string, visibility: string, role: string, kind?: Kind) => ({
    kind: kind === undefined ? "organization" : "user",
    name: `${word}-${name}`,
    lower_name: `${word}-${name}`,
    description: role,
    visibility,
    is_restricted: kind === "restricted" ? 1 : 0,
    is_admin: kind === "admin" ? 1 : 0,
    created_at: 1000,
    updated_at: 1000,
  });
  return [
    ...VISIBILITIES.map((visibility) => row(`org-${visibility}`, visibility, "")),
    row(RECIPIENT, "private", RECIPIENT),
    ...OWNERS.map(([kind, visibility]) =>
      row(`owner-${kind}-${visibility}`, visibility, "owner", kind),
    ),
    ...(["plain", "restricted", "admin"] as const).flatMap((kind) =>
      KINDS[kind]
        .filter((role) => role !== "owner")
        .map((role) => row(`${kind}-${role.replaceAll(/\W+/g, "-")}`, "private", role, kind)),
    ),
  ];
}

/** The description of a repository holds the name of its configuration of units. */
const repositoryRow = (word: string, owner: User, switched: string, isPrivate: number) => ({
  owner_id: owner.id,
  name: `${word}-${switched.replaceAll(/\W+/g, "-")}-${isPrivate}`,
  lower_name: `${word}-${switched.replaceAll(/\W+/g, "-")}-${isPrivate}`,
  description: switched,
  object_name: crypto.randomUUID(),
  is_private: isPrivate,
  default_branch: "main",
  pull_settings: JSON.stringify(DEFAULT_PULL_SETTINGS),
  issue_settings: JSON.stringify(DEFAULT_ISSUE_SETTINGS),
  external_wiki_url: "",
  has_code: 1,
  has_issues: 1,
  has_pull_requests: 1,
  has_releases: 1,
  has_wiki: 1,
  has_projects: 1,
  has_packages: 1,
  has_actions: 1,
  created_at: 1000,
  updated_at: 1000,
  ...SETTINGS[switched],
});

/** Inserts the memberships and collaborations of each person's role. */
async function assignRoles(
  word: string,
  orgs: readonly User[],
  repos: readonly Repository[],
  people: readonly Person[],
): Promise<void> {
  const idsOf = (role: string) =>
    people.filter((each) => each.role === role).map(({ user }) => user.id);
  const teamSpecs = Object.entries(TEAMS).flatMap(([role, list]) =>
    list.map((team, at) => ({ ...team, role, name: `${word}-${role}-${at}` })),
  );
  const teamRows = orgs.flatMap(({ id }) =>
    teamSpecs.map(({ access, units, reach, name }) => ({
      org_id: id,
      name,
      lower_name: name,
      access,
      units: JSON.stringify(units),
      includes_all_repositories: reach === "all" ? 1 : 0,
      created_at: 1000,
    })),
  );
  await insert("teams", teamRows);
  const stored = await db.all<{ id: number; orgId: number; name: string }>(sql`
    select id, org_id as "orgId", name from teams
    where substr(name, 1, ${word.length}) = ${word}`);
  const teams = stored.flatMap(({ id, orgId, name }) =>
    teamSpecs
      .filter((each) => each.name === name)
      .map(({ role, reach }) => ({ id, orgId, role, reach })),
  );

  const members = people.filter(({ role }) => isMember(role));
  const orgMembers = orgs.flatMap(({ id }) =>
    members.map(({ user }) => ({ org_id: id, user_id: user.id })),
  );
  const teamMembers = teams.flatMap(({ id, role }) =>
    idsOf(role).map((userId) => ({ team_id: id, user_id: userId })),
  );
  const teamRepositories = teams
    .filter(({ reach }) => reach !== "all")
    .flatMap(({ id, orgId, reach }) =>
      repos
        .filter(({ ownerId }) => ownerId === orgId)
        .filter(({ description }) => (description === ANOTHER) === (reach === "another"))
        .map((repo) => ({ team_id: id, repo_id: repo.id })),
    );
  const collaborations = Object.entries(COLLABORATIONS).flatMap(([role, access]) =>
    idsOf(role).flatMap((userId) =>
      repos.map((repo) => ({ repo_id: repo.id, user_id: userId, access })),
    ),
  );
  await insert("organization_members", orgMembers);
  await insert("team_members", teamMembers);
  await insert("team_repositories", teamRepositories);
  await insert("collaborations", collaborations);
}

/**
 * Offers every repository to the recipient, an organization with members who may accept and others
 * who may not.
 */
async function offerRepositories(
  word: string,
  accounts: readonly User[],
  repos: readonly Repository[],
  people: readonly Person[],
): Promise<void> {
  const recipient = accounts.find(({ description }) => description === RECIPIENT) as User;
  const members = people.filter(({ role }) => IN_RECIPIENT[role] !== undefined);
  await insert(
    "teams",
    Object.entries(IN_RECIPIENT).map(([role, { canCreate }]) => ({
      org_id: recipient.id,
      name: `${word}-${role}`,
      lower_name: `${word}-${role}`,
      access: ACCESS.none,
      units: "{}",
      can_create_org_repo: canCreate,
      created_at: 1000,
    })),
  );
  const teams = await db.all<{ id: number; name: string }>(
    sql`select id, name from teams where org_id = ${recipient.id}`,
  );
  const idOf = (role: string) => teams.find(({ name }) => name === `${word}-${role}`)?.id;
  await insert(
    "organization_members",
    members.map(({ user }) => ({ org_id: recipient.id, user_id: user.id })),
  );
  await insert(
    "team_members",
    members.map(({ user, role }) => ({ team_id: idOf(role), user_id: user.id })),
  );
  await insert(
    "repository_transfers",
    repos
      .filter(({ description }) => description !== ANOTHER)
      .map(({ id, ownerId }) => ({
        repo_id: id,
        doer_id: ownerId,
        recipient_id: recipient.id,
        created_at: 1000,
      })),
  );
}

const blockPeople = (owners: readonly User[], people: readonly Person[]): Promise<void> =>
  insert(
    "blocks",
    owners.flatMap(({ id: blockerId }) =>
      people
        .filter(({ role }) => role === BLOCKED)
        .map(({ user }) => ({ blocker_id: blockerId, blocked_id: user.id, created_at: 1000 })),
    ),
  );

async function makeTokens(user: User, repos: readonly Repository[]) {
  const rows = ["here", "elsewhere"].map((name) => ({
    user_id: user.id,
    name: freshName(name),
    secret_hash: crypto.randomUUID(),
    last_eight: name,
    scopes: "all",
    is_bound: 1,
    created_at: 1000,
  }));
  await insert("access_tokens", rows);
  const tokens = await db.all<{ id: number; name: string }>(
    sql`select id, last_eight as name from access_tokens where user_id = ${user.id}`,
  );
  const idOf = (name: string) => tokens.find((each) => each.name === name)?.id ?? 0;
  const tokenIds = { here: idOf("here"), elsewhere: idOf("elsewhere") };
  const bindings = repos.map(({ id, description }) => ({
    token_id: description === ANOTHER ? tokenIds.elsewhere : tokenIds.here,
    repo_id: id,
  }));
  await insert("access_token_repositories", bindings);
  return tokenIds;
}
