import type { Context } from "hono";
import type { Child } from "hono/jsx";

import type { WebEnv } from "../../env.ts";
import { issuePath } from "../addresses.ts";
import type { EnteredPull } from "../repository/enter.ts";
import { renderRepository, type RepositoryPageOptions } from "../repository/frame.tsx";
import { IssueHead } from "./issue-head.tsx";
import { PullTabs } from "./pull-tabs.tsx";

/** Sends a page of a pull request besides its conversation. */
export function renderPull(
  c: Context<WebEnv>,
  page: EnteredPull,
  current: "commits" | "files",
  options: Partial<RepositoryPageOptions>,
  body: Child,
): Response | Promise<Response> {
  const { pull, formToken } = page;
  return renderRepository(
    c,
    page,
    { ...options, tab: "pulls", title: `#${pull.row.number} - ${pull.row.title}` },
    <>
      <IssueHead c={c} page={page} issue={pull} sending={{ path: issuePath(pull), formToken }} />
      <PullTabs pull={pull} current={current} />
      {body}
    </>,
  );
}
