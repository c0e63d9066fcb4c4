import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { inProject } from "../../../scripts/project.ts";
import { type Outcome, run } from "../../../scripts/tools/run.ts";
import { type Checkout, makeCheckout } from "../support/checkout.ts";
import type { Account } from "./fake-wrangler.ts";

/** A checkout with a fake of wrangler. */
export function makeDeployment(): Checkout {
  const checkout = makeCheckout();
  const modules = join(checkout.path, "node_modules");
  const bin = join(modules, ".bin");
  rmSync(modules);
  mkdirSync(bin, { recursive: true });
  const link = (name: string): void =>
    symlinkSync(inProject(`node_modules/${name}`), join(modules, name));
  for (const name of readdirSync(inProject("node_modules"))) if (name !== ".bin") link(name);
  for (const name of readdirSync(inProject("node_modules/.bin"))) {
    if (!name.startsWith("wrangler")) link(`.bin/${name}`);
  }
  const fakeWrangler = new URL("fake-wrangler.ts", import.meta.url).href;
  const text = `#!/usr/bin/env node\nvoid import(${JSON.stringify(fakeWrangler)});\n`;
  writeFileSync(join(bin, "wrangler"), text, { mode: 0o755 });
  return checkout;
}

/** An account, which is empty without `existing`, and the deployments to it. */
export function openAccount({ path }: Checkout, existing: Partial<Account> = {}) {
  const file = join(path, "account.json");
  const state = (): Account => JSON.parse(readFileSync(file, "utf8"));
  const change = (changes: Partial<Account>): void =>
    writeFileSync(file, JSON.stringify({ ...state(), ...changes }));
  const account: Account = { databases: [], others: [], commands: [], ...existing };
  writeFileSync(file, JSON.stringify(account));
  return {
    state,
    change,
    /** @returns What the deployment printed, and its commands that change something. */
    deploy: async (...args: string[]): Promise<Outcome & { commands: string[] }> => {
      change({ commands: [] });
      const outcome = await run("node", [join(path, "scripts/deploy.ts"), ...args], {
        env: { FAKE_WRANGLER_ACCOUNT: file },
        cwd: path,
      });
      const isChange = (command: string) => !/ info |^d1 list/.test(command);
      return { ...outcome, commands: state().commands.filter(isChange) };
    },
  };
}
