import { hashPassword } from "../../src/auth/password.ts";
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
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../src/domain/repos/default-settings.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";

const PASSWORD = "correct horse";

let serial = 0;
/** A name nobody else has: tests share one database. */
export function freshName(prefix: string): string {
  serial += 1;
  return `${prefix}-${serial.toString(36)}${Math.floor(Math.random() * 1e8).toString(36)}`;
}

/** A user with a token that may do everything. */
export interface TestUser extends User {
  token: string;
  password: string;
}

/** A repository with its owner's name. */
export interface TestRepo extends Repository {
  owner: string;
}

async function account(kind: User["kind"], fields: Partial<User>): Promise<User> {
  const name = fields.name ?? freshName(kind === "user" ? "user" : "org");
  const rows = await db
    .insert(users)
    .values({
      kind,
      name,
      email: `${name}@example.com`,
      createdAt: 1000,
      updatedAt: 1000,
      ...fields,
      lowerName: name.toLowerCase(),
    })
    .returning();
  return only(rows);
}

/** Inserts rows with fresh names; what matters to a test it says itself. */
export const make = {
  async user(fields: Partial<User> = {}): Promise<TestUser> {
    const user = await account("user", fields);
    await db.insert(emailAddresses).values({
      userId: user.id,
      email: user.email,
      lowerEmail: user.email.toLowerCase(),
      isActivated: true,
      isPrimary: true,
    });
    return { ...user, token: await make.token(user), password: PASSWORD };
  },

  /** A user who signs in with a password; hashing it takes a tenth of a second. */
  async userWithPassword(fields: Partial<User> = {}): Promise<TestUser> {
    return make.user({ passwordHash: await hashPassword(PASSWORD), ...fields });
  },

  admin: (fields: Partial<User> = {}): Promise<TestUser> => make.user({ isAdmin: true, ...fields }),

  /** A token's secret. */
  async token(
    user: User,
    {
      scopes = "all",
      expiresAt = null,
      repos,
    }: { scopes?: string | null; expiresAt?: number | null; repos?: Repository[] } = {},
  ): Promise<string> {
    const secret = makeSecret();
    const rows = await db
      .insert(accessTokens)
      .values({
        userId: user.id,
        name: freshName("token"),
        secretHash: await hashSecret(secret),
        lastEight: secret.slice(-8),
        scopes,
        expiresAt,
        isBound: repos !== undefined,
        createdAt: Date.now(),
        lastUsedAt: Date.now(),
      })
      .returning();
    const tokenId = only(rows).id;
    for (const repo of repos ?? []) {
      await db.insert(accessTokenRepositories).values({ tokenId, repoId: repo.id });
    }
    return secret;
  },

  /** An organization whose owners are `owners`. */
  async org(owners: User[], fields: Partial<User> = {}): Promise<User> {
    const org = await account("organization", fields);
    const team = await make.team(org, { access: ACCESS.owner, name: "Owners" });
    for (const owner of owners) await make.member(org, team, owner);
    return org;
  },

  async team(
    org: User,
    {
      access = ACCESS.read,
      name = freshName("team"),
      all = true,
      creates = false,
      units = everyUnit(access),
    }: {
      access?: Access;
      name?: string;
      all?: boolean;
      creates?: boolean;
      units?: TeamUnits;
    } = {},
  ) {
    const rows = await db
      .insert(teams)
      .values({
        orgId: org.id,
        name,
        lowerName: name.toLowerCase(),
        access,
        units,
        includesAllRepositories: all,
        canCreateOrgRepo: creates || access === ACCESS.owner,
        createdAt: 1000,
      })
      .returning();
    return only(rows);
  },

  async member(org: User, team: { id: number }, user: User): Promise<void> {
    await db
      .insert(organizationMembers)
      .values({ orgId: org.id, userId: user.id })
      .onConflictDoNothing();
    await db.insert(teamMembers).values({ teamId: team.id, userId: user.id });
  },

  /** Lets a team that does not reach all repositories reach this one. */
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
