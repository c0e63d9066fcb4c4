import type { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { account } from "./account.tsx";
import { ownActions } from "./actions.tsx";
import { appearance } from "./appearance.tsx";
import { applications } from "./applications.tsx";
import { blockedUsers } from "./blocked-users.tsx";
import { exports } from "./exports.ts";
import { ownHooks } from "./hooks.tsx";
import { keys } from "./keys.tsx";
import { organizations } from "./organizations.tsx";
import { ownLog } from "./own-log.tsx";
import { profile } from "./profile.tsx";
import { repositories } from "./repositories.tsx";
import { security } from "./security.tsx";
import { tokens } from "./tokens.tsx";

/** The settings of the reader's account. */
export const settingsPages: readonly Hono<WebEnv>[] = [
  profile,
  account,
  appearance,
  security,
  tokens,
  keys,
  applications,
  organizations,
  repositories,
  ownHooks,
  ownActions,
  blockedUsers,
  ownLog,
  exports,
];
