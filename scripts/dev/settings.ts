import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

import { inProject } from "../project.ts";
import { makeSecrets } from "../serve/stored-secrets.ts";
import { LOCAL_VARS } from "../serve/worker.ts";

/**
 * The file that is made. Only `wrangler dev` reads it: a deployment takes no settings from files,
 * and scripts/tools/quiet.ts keeps it from the other scripts, so that `npm start` has the keys of
 * its own state.
 */
const MADE = ".env.local";

/** The files from which wrangler takes settings: the second only where the first does not exist. */
const FILES = [".dev.vars", MADE];

const HEADER = `# Settings of \`wrangler dev\`, made by its first start and never changed by another.
# Secrets in its state (.wrangler/state) can only be read with the key in SEALING_KEYS.
`;

/**
 * Makes settings for `wrangler dev`, as `npm start` has them: the first administrator, secrets, and
 * that webhooks may be sent to this machine. A file that exists stays as it is.
 *
 * @returns What was done, or what the existing file lacks, in lines for people.
 */
export function provideSettings(): string[] {
  const file = FILES.find((name) => existsSync(inProject(name)));
  if (file !== undefined) {
    const given = parseEnv(readFileSync(inProject(file), "utf8"));
    const missing = Object.keys(makeSettings()).filter((name) => !(name in given));
    return missing.length > 0 ? [`${file} sets no ${missing.join(", ")}`] : [];
  }
  const settings = makeSettings();
  const lines = Object.entries(settings).map(([name, value]) => `${name}="${value}"\n`);
  writeFileSync(inProject(MADE), HEADER + lines.join(""), { mode: 0o600, flag: "wx" });
  const { FIRST_ADMIN_USER: name, FIRST_ADMIN_PASSWORD: password } = settings;
  return [`made ${MADE}: the first administrator is ${name}, password ${password}`];
}

const makeSettings = () => ({
  ...LOCAL_VARS,
  FIRST_ADMIN_USER: "root",
  FIRST_ADMIN_PASSWORD: randomBytes(18).toString("base64url"),
  ...makeSecrets(),
});
