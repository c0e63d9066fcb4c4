import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { WebEnv } from "../env.ts";
import { changePassword } from "./change-password.tsx";
import { files } from "./files.ts";
import { renderPageFailure } from "./render-page-failure.tsx";
import { security } from "./settings/security.tsx";
import { signIn } from "./sign-in.tsx";
import { start } from "./start.ts";

/** Pages for people. */
export const pages = new Hono<WebEnv>({ router: new TrieRouter() });
for (const part of [start, files, signIn, changePassword, security]) pages.route("/", part);

pages.onError(renderPageFailure);
