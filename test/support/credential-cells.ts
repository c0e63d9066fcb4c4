import { expect } from "vitest";

import {
  authorizationCode,
  boundToken,
  clientSecret,
  confirmationLink,
  factorDue,
  grantedToken,
  passwordDue,
  personalToken,
  recoveryCode,
  refreshToken,
  registryByPassword,
  registryByToken,
  rememberedPassword,
  resetLink,
  session,
  type TestCredential,
  unsubscribeLink,
  uploadByPassword,
  uploadByToken,
  visit,
  waitingAuthenticator,
  World,
  writtenFor,
} from "./credentials.ts";

/**
 * What a change does to a credential: it ends for good; it is refused until the change is undone;
 * or it stays. An empty cell has no meaning: the credential does not exist in that state.
 */
export type Outcome = "ends" | "rests" | "stays" | "";

export const CREDENTIALS = {
  "link to choose a new password": resetLink,
  "link to confirm an address": confirmationLink,
  "link to unsubscribe": unsubscribeLink,
  session,
  "sign-in whose second factor is due": factorDue,
  "sign-in whose new password is due": passwordDue,
  "secret of an app that waits for its first code": waitingAuthenticator,
  "recovery code": recoveryCode,
  "password, hashed a moment ago": rememberedPassword,
  "access token": personalToken,
  "access token bound to a repository": boundToken,
  "code for an application": authorizationCode,
  "access token of an application": grantedToken,
  "refresh token": refreshToken,
  "secret of an application": clientSecret,
  "token of a large file, by a password": uploadByPassword,
  "token of a large file, by a token": uploadByToken,
  "registry token, by a password": registryByPassword,
  "registry token, by a token": registryByToken,
};
export type Kind = keyof typeof CREDENTIALS;

export interface Change {
  /** What must be there before the credential is made. */
  before?: (world: World) => Promise<unknown>;
  make: (world: World, credential: TestCredential, kind: Kind) => Promise<unknown>;
  undo?: (world: World) => Promise<unknown>;
}

export const removeFactors = async (world: World) => {
  const path = `/api/v1/admin/users/${world.user.name}/second_factors`;
  expect((await visit("DELETE", path, { as: world.admin })).status).toBe(204);
  world.forgetFactors();
};

/** A credential, a change, and what the change does to the credential. */
export interface Cell {
  kind: Kind;
  change: string;
  outcome: Outcome;
  by: Change;
}

/**
 * Makes a credential, shows that it works, makes the change, and finds what it did. A refused use
 * writes nothing.
 *
 * SECURITY: a credential that outlives what it was made from gives an account back to somebody who
 * has lost it.
 */
export async function findOutcome({ kind, outcome, by }: Cell): Promise<Outcome> {
  const world = await World.open();
  await by.before?.(world);
  const credential = await CREDENTIALS[kind](world);
  expect(await credential.works(), "before").toBe(true);

  await by.make(world, credential, kind);

  if (outcome === "stays") return (await credential.use()) ? "stays" : "ends";
  expect(await credential.works(), "after").toBe(false);
  const before = await writtenFor(world);
  expect(await credential.use(), "after").toBe(false);
  expect(await writtenFor(world), "nothing is written").toEqual(before);
  await by.undo?.(world);
  return (await credential.use()) ? "rests" : "ends";
}

/** The rows of the tables of a text in Markdown, without the spaces by which they are aligned. */
export const tableRows = (text: string): string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.replaceAll(/ +/g, " "));
