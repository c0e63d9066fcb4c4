import { sql, type SQL } from "drizzle-orm";

import { hashSecret, makeSecret } from "../../src/auth/secret.ts";
import {
  ACCESS,
  accessTokenRepositories,
  accessTokens,
  collaborations,
  everyUnit,
  emailAddresses,
  organizationMembers,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
  users,
  type Access,
  type Repository,
  type TeamUnits,
  type User,
} from "../../src/db/schema/index.ts";
import { type Params, prepareAll } from "../../src/db/prepared.ts";
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../src/domain/repos/repository/default-settings.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";

const PASSWORD = "correct horse";
/**
 * Argon2id of `PASSWORD` at the cheapest parameters, which the hash contains: the service's take 90
 * ms of CPU.
 */
const PASSWORD_HASH =
  "$argon2id$v=19$m=64,t=1,p=1$AwoRGB8mLTQ7QklQV15lbA$jP2x3tCN6CqGb0kTZEfl+TZD+UmYEdXCBJ8hdIOzD4Q";

let serial = 0;
/** A unique name: tests share one database. */
export function freshName(prefix: string): string {
  serial += 1;
  return `${prefix}-${serial.toString(36)}${Math.floor(Math.random() * 1e8).toString(36)}`;
}

/** A user with a token of all scopes. */
export interface TestUser extends User {
  token: string;
  password: string;
}

/** A repository with its owner's name. */
export interface TestRepo extends Repository {
  owner: string;
}

/** Columns of an account but those of JSON, which a prepared query binds as texts. */
type AccountFields = Partial<Omit<User, "quota">>;

/** The row of an account. */
function accountRow(kind: User["kind"], fields: AccountFields) {
  const name = fields.name ?? freshName(kind === "user" ? "user" : "org");
  const email = `${name}@example.com`;
  const lowerName = name.toLowerCase();
  return { kind, name, email, createdAt: 1000, updatedAt: 1000, ...fields, lowerName };
}

/** A subquery for the id of an account that the same batch inserts. */
const idOf = (lowerName: string | SQL<string>) =>
  sql<number>`(select id from users where lower_name = ${lowerName})`;

interface TokenFields {
  scopes?: string | null;
  expiresAt?: number | null;
  repos?: Repository[];
  /** Patterns of refs, paths and packages. */
  refs?: readonly string[];
  paths?: readonly string[];
  packages?: readonly string[];
}

const HOUR_MS = 60 * 60 * 1000;

/** A token's secret, and its row without its user. */
async function makeToken({ scopes = "all", expiresAt = null, ...bounds }: TokenFields = {}) {
  const secret = makeSecret();
  const row = {
    name: freshName("token"),
    secretHash: await hashSecret(secret),
    lastEight: secret.slice(-8),
    scopes,
    expiresAt,
    isBound: bounds.repos !== undefined,
    createdAt: Date.now(),
    // Later than now, so that no request of a slow run has a use to record.
    lastUsedAt: Date.now() + HOUR_MS,
  };
  return { secret, row };
}

/** A user with an address and a token: most tests make some, so that their SQL is built once. */
const insertUser = prepareAll((builder, { user, address, token }: Params<UserRows>) => {
  const userId = idOf(user.lowerName);
  return [
    builder.insert(users).values(user).returning(),
    builder.insert(emailAddresses).values({ ...address, userId }),
    builder.insert(accessTokens).values({ ...token, userId }),
  ];
});

interface UserRows {
  user: ReturnType<typeof accountRow>;
  address: { email: string; lowerEmail: string; isActivated: boolean; isPrimary: boolean };
  token: Awaited<ReturnType<typeof makeToken>>["row"];
}

const insertTeam = (orgId: number | SQL<number>, fields: TeamFields = {}) => {
  const { access = ACCESS.read, name = freshName("team"), all = true, creates = false } = fields;
  const units = fields.units ?? everyUnit(access);
  return db
    .insert(teams)
    .values({
      orgId,
      name,
      lowerName: name.toLowerCase(),
      access,
      units,
      includesAllRepositories: all,
      canCreateOrgRepo: creates || access === ACCESS.owner,
      createdAt: 1000,
    })
    .returning();
};

interface TeamFields {
  access?: Access;
  name?: string;
  all?: boolean;
  creates?: boolean;
  units?: TeamUnits;
}

const insertMember = (
  orgId: number | SQL<number>,
  teamId: number | SQL<number>,
  { id: userId }: Pick<User, "id">,
) =>
  [
    db.insert(organizationMembers).values({ orgId, userId }).onConflictDoNothing(),
    db.insert(teamMembers).values({ teamId, userId }),
  ] as const;

/** Inserts rows with fresh names, in one batch each; `fields` overrides the defaults. */
export const make = {
  async user(fields: AccountFields = {}): Promise<TestUser> {
    const user = accountRow("user", fields);
    const { secret, row: token } = await makeToken();
    const { email } = user;
    const lowerEmail = email.toLowerCase();
    const address = { email, lowerEmail, isActivated: true, isPrimary: true };
    const [rows] = await db.batch(insertUser(db, { user, address, token }));
    return { ...only(rows), token: secret, password: PASSWORD };
  },

  /** A user who signs in with a password. */
  userWithPassword: (fields: AccountFields = {}): Promise<TestUser> =>
    make.user({ passwordHash: PASSWORD_HASH, ...fields }),

  admin: (fields: AccountFields = {}): Promise<TestUser> => make.user({ isAdmin: true, ...fields }),

  /** Inserts a token and returns its secret. */
  async token({ id: userId }: Pick<User, "id">, fields: TokenFields = {}): Promise<string> {
    const { secret, row } = await makeToken(fields);
    const { repos = [], refs = null, paths = null, packages = null } = fields;
    const bounds = { boundRefs: refs, boundPaths: paths, boundPackages: packages };
    const tokenId = sql<number>`(select id from access_tokens where secret_hash = ${row.secretHash})`;
    await db.batch([
      db.insert(accessTokens).values({ ...row, ...bounds, userId }),
      ...repos.map(({ id: repoId }) =>
        db.insert(accessTokenRepositories).values({ tokenId, repoId }),
      ),
    ]);
    return secret;
  },

  /** An organization whose owners are `owners`. */
  async org(owners: Pick<User, "id">[], fields: AccountFields = {}): Promise<User> {
    const row = accountRow("organization", fields);
    const id = idOf(row.lowerName);
    const teamId = sql<number>`(select id from teams where org_id = ${id} and lower_name = 'owners')`;
    const [rows] = await db.batch([
      db.insert(users).values(row).returning(),
      insertTeam(id, { access: ACCESS.owner, name: "Owners" }),
      ...owners.flatMap((owner) => insertMember(id, teamId, owner)),
    ]);
    return only(rows);
  },

  team: async (org: Pick<User, "id">, fields: TeamFields = {}) =>
    only(await insertTeam(org.id, fields)),

  async member(org: Pick<User, "id">, team: { id: number }, user: Pick<User, "id">): Promise<void> {
    await db.batch(insertMember(org.id, team.id, user));
  },

  /** Adds a repository to a team that does not include all repositories. */
  async teamRepo(team: { id: number }, repo: Repository): Promise<void> {
    await db.insert(teamRepositories).values({ teamId: team.id, repoId: repo.id });
  },

  async repo(owner: User, fields: Partial<Repository> = {}): Promise<TestRepo> {
    const name = fields.name ?? freshName("repo");
    const objectName = crypto.randomUUID();
    const rows = await db
      .insert(repositories)
      .values({
        objectName,
        networkName: objectName,
        ownerId: owner.id,
        name,
        isPrivate: false,
        defaultBranch: "main",
        pullSettings: DEFAULT_PULL_SETTINGS,
        issueSettings: DEFAULT_ISSUE_SETTINGS,
        createdAt: 1000,
        updatedAt: 1000,
        ...fields,
        lowerName: name.toLowerCase(),
      })
      .returning();
    return { ...only(rows), owner: owner.name };
  },

  async collaborator(repo: Repository, user: User, access: 1 | 2 | 3): Promise<void> {
    await db.insert(collaborations).values({ repoId: repo.id, userId: user.id, access });
  },
};
