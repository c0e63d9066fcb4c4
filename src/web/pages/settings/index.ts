import type { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { account } from "./account.tsx";
import { applications } from "./applications.tsx";
import { keys } from "./keys.tsx";
import { security } from "./security.tsx";
import { tokens } from "./tokens.tsx";

/** The settings of the reader's account. */
export const settingsPages: readonly Hono<WebEnv>[] = [
  account,
  security,
  tokens,
  keys,
  applications,
];
