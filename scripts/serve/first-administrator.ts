import { randomBytes } from "node:crypto";

import { reasonOf, Refusal } from "../refusal.ts";
import type { Settings } from "./settings.ts";
import type { Setup } from "./setup.ts";

/** An administrator created by this start. */
export type FirstAdministrator = {
  name: string;
  /** The generated password, which must be shown; undefined if the operator provided one. */
  generatedPassword: string | undefined;
};

/** @returns undefined if an administrator already exists. */
export async function createFirstAdministrator(
  setup: Setup,
  { name, password, email }: Settings["administrator"],
): Promise<FirstAdministrator | undefined> {
  const generatedPassword =
    password === undefined ? randomBytes(18).toString("base64url") : undefined;
  const account = { name, password: password ?? generatedPassword ?? "", email };
  try {
    const { created } = await setup.createFirstAdministrator(account);
    return created ? { name, generatedPassword } : undefined;
  } catch (error) {
    throw new Refusal(`the first administrator "${name}" cannot be created: ${reasonOf(error)}`);
  }
}
