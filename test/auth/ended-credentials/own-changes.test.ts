import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import documented from "../../../docs/sign-in.md?raw";
import {
  accessTokens,
  collaborations,
  emailAddresses,
  users,
} from "../../../src/db/schema/index.ts";
import {
  type Cell,
  type Change,
  CREDENTIALS,
  findOutcome,
  type Kind,
  type Outcome,
  removeFactors,
  tableRows,
} from "../../support/credential-cells.ts";
import { sharedRepo, third, visit, type World } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { make } from "../../support/make.ts";
import { CALLBACK } from "../../support/oauth.ts";

const E = "ends";
const R = "rests";
const S = "stays";

const removeAddress =
  (addressOf: (world: World) => string) =>
  async (world: World): Promise<void> => {
    const json = { emails: [addressOf(world)] };
    const answer = await visit("DELETE", "/api/v1/user/emails", { as: world.user, json });
    expect(answer.status).toBe(204);
  };

const addAddress = (world: World, email: string) =>
  visit("POST", "/api/v1/user/emails", { as: world.user, json: { emails: [email] } });

const used: Change = { make: async (_, { use }) => expect(await use()).toBe(true) };
const newer: Change = { make: (world, _, kind) => CREDENTIALS[kind](world) };
const expired: Change = { make: (_, { expire }) => expire?.() ?? expect.fail("it never expires") };

const APPLICATIONS = "/user/settings/applications";
const revoke = async (world: World) => {
  const browser = await world.browser();
  const { id } = await world.openApplication();
  const form = `${APPLICATIONS}/revoke`;
  expect((await browser.submit(APPLICATIONS, { id: String(id) }, form)).status).toBe(303);
};

const editApplication = (redirectUris: readonly string[]) => async (world: World) => {
  const application = await world.openApplication();
  const { status, body } = await visit(
    "PATCH",
    `/api/v1/user/applications/oauth2/${application.id}`,
    {
      as: world.developer,
      json: {
        name: application.name,
        redirect_uris: redirectUris,
        confidential_client: true,
      },
    },
  );
  expect(status).toBe(200);
  application.secret = body.client_secret;
};

const deleteApplication = async (world: World) => {
  const { id } = await world.openApplication();
  const path = `/api/v1/user/applications/oauth2/${id}`;
  expect((await visit("DELETE", path, { as: world.developer })).status).toBe(204);
};

const flagDeveloper = (isLoginProhibited: boolean) => (world: World) =>
  db.update(users).set({ isLoginProhibited }).where(eq(users.id, world.developer.id));

const moveAddress = async (world: World) => {
  await removeAddress(third)(world);
  const other = await make.user();
  const json = { emails: [third(world)] };
  const added = await visit("POST", "/api/v1/user/emails", { as: other, json });
  expect(added.status).toBe(201);
};

const deleteRepository = async (world: World) => {
  const { owner, name } = await sharedRepo(world);
  const path = `/api/v1/repos/${owner}/${name}`;
  expect((await visit("DELETE", path, { as: world.developer })).status).toBe(204);
};

/** What happens to the thing that a credential was made from, but for its account. */
const OWN_CHANGES = {
  "used once": used,
  "followed by a newer one": newer,
  "time run out": expired,
  "its address removed": { make: removeAddress(({ second }) => second) },
  "its address removed and confirmed again": {
    make: async (world) => {
      await removeAddress(({ second }) => second)(world);
      await addAddress(world, world.second);
      const own = eq(emailAddresses.email, world.second);
      await db.update(emailAddresses).set({ isActivated: true }).where(own);
    },
  },
  "its unconfirmed address removed": { make: removeAddress(third) },
  "its unconfirmed address removed and added by another account": { make: moveAddress },
  "its second factors removed and set up again": {
    make: async (world) => {
      await removeFactors(world);
      await world.enrol();
    },
  },
  "the token deleted": {
    make: ({ user }) => db.delete(accessTokens).where(eq(accessTokens.userId, user.id)),
  },
  "the role in its repository lost": {
    make: async (world) => {
      const { id: repoId } = await sharedRepo(world);
      const isOwn = and(
        eq(collaborations.repoId, repoId),
        eq(collaborations.userId, world.user.id),
      );
      await db.delete(collaborations).where(isOwn);
    },
    undo: async (world) => make.collaborator(await sharedRepo(world), world.user, 2),
  },
  "its repository deleted": {
    make: deleteRepository,
  },
  "its grant revoked": { before: (world) => CREDENTIALS["refresh token"](world), make: revoke },
  "the application's secret renewed": { make: editApplication([CALLBACK]) },
  "the application's address changed": { make: editApplication(["https://other.example/"]) },
  "the application deleted": { make: deleteApplication },
  "the application's owner may not sign in": {
    make: flagDeveloper(true),
    undo: flagDeveloper(false),
  },
} satisfies Record<string, Change>;

const OWN_TABLE: Partial<
  Record<Kind, Partial<Record<keyof typeof OWN_CHANGES, Exclude<Outcome, "">>>>
> = {
  "link to choose a new password": {
    "used once": E,
    "followed by a newer one": E,
    "time run out": E,
    "its address removed": E,
    "its address removed and confirmed again": E,
  },
  "link to confirm an address": {
    "used once": E,
    "time run out": E,
    "its unconfirmed address removed": E,
    "its unconfirmed address removed and added by another account": E,
  },
  session: { "followed by a newer one": S, "time run out": E },
  "sign-in whose second factor is due": {
    "used once": E,
    "followed by a newer one": S,
    "time run out": E,
  },
  "sign-in whose new password is due": { "used once": E, "time run out": E },
  "secret of an app that waits for its first code": {
    "used once": E,
    "followed by a newer one": E,
    "time run out": E,
  },
  "recovery code": { "its second factors removed and set up again": E },
  "access token": { "followed by a newer one": S, "time run out": E, "the token deleted": E },
  "access token bound to a repository": {
    "the role in its repository lost": R,
    "its repository deleted": E,
    "the token deleted": E,
  },
  "code for an application": {
    "used once": E,
    "followed by a newer one": S,
    "time run out": E,
    "its grant revoked": E,
    "the application's secret renewed": S,
    "the application's address changed": E,
    "the application deleted": E,
    "the application's owner may not sign in": R,
  },
  "access token of an application": {
    "followed by a newer one": S,
    "time run out": E,
    "its grant revoked": E,
    "the application's secret renewed": S,
    "the application's address changed": S,
    "the application deleted": E,
    "the application's owner may not sign in": S,
  },
  "refresh token": {
    "followed by a newer one": S,
    "time run out": E,
    "its grant revoked": E,
    "the application's secret renewed": S,
    "the application's address changed": S,
    "the application deleted": E,
    "the application's owner may not sign in": R,
  },
  "secret of an application": {
    "the application's secret renewed": E,
    "the application deleted": E,
    "the application's owner may not sign in": R,
  },
  "token of a large file, by a password": { "the role in its repository lost": R },
  "token of a large file, by a token": {
    "the role in its repository lost": R,
    "the token deleted": E,
  },
  "registry token, by a token": { "the token deleted": E },
};

const cellsOf = (kind: Kind): Cell[] =>
  Object.entries(OWN_TABLE[kind] ?? {}).map(([change, outcome]) => ({
    kind,
    change,
    outcome,
    by: OWN_CHANGES[change as keyof typeof OWN_CHANGES],
  }));

describe.each(Object.keys(OWN_TABLE) as Kind[])("%s", (kind) => {
  it.for(cellsOf(kind))("$outcome: $change", async (cell) => {
    expect(await findOutcome(cell)).toBe(cell.outcome);
  });
});

it("docs/sign-in.md has the same table", () => {
  const lines = (Object.keys(OWN_TABLE) as Kind[]).map((kind) => {
    const changes = (outcome: Outcome) =>
      cellsOf(kind)
        .filter((cell) => cell.outcome === outcome)
        .map(({ change }) => change)
        .join(", ");
    return `| ${[kind, changes(E), changes(R), changes(S)].join(" | ")} |`.replaceAll(/ +/g, " ");
  });

  expect(tableRows(documented)).toEqual(expect.arrayContaining(lines));
});
