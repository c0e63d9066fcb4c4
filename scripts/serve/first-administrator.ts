import { randomBytes } from "node:crypto";

import { reasonOf, Refusal } from "../refusal.ts";
import type { Settings } from "./settings.ts";

/** The Worker's own entrypoint for this (src/worker.ts): passwords are hashed where they are checked. */
export type Setup = {
  /** Does nothing when there is an administrator. */
  createFirstAdministrator(account: {
    name: string;
    password: string;
    email: string;
  }): Promise<{ created: boolean }>;
};

/** An administrator made by this start. */
export type FirstAdministrator = {
  name: string;
  /** Only a password made here: nobody else knows it, so it has to be shown. */
  generatedPassword: string | undefined;
};

/** @returns undefined when there was an administrator already. */
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
