import type { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { activity } from "./activity.tsx";
import { blame } from "./blame.tsx";
import { commits } from "./commits.tsx";
import { branches } from "./branches.tsx";
import { commit } from "./commit.tsx";
import { find } from "./find.tsx";
import { fork } from "./fork.tsx";
import { forks } from "./forks.tsx";
import { graph } from "./graph.tsx";
import { people } from "./people.tsx";
import { releaseForms } from "./release-form.tsx";
import { preview } from "./preview.tsx";
import { releases } from "./releases.tsx";
import { search } from "./search.tsx";
import { source } from "./source.tsx";
import { transfer } from "./transfer.ts";

/** The pages of a repository. */
export const repositoryPages: readonly Hono<WebEnv>[] = [
  source,
  blame,
  find,
  search,
  commits,
  graph,
  commit,
  branches,
  releases,
  releaseForms,
  people,
  preview,
  forks,
  activity,
  fork,
  transfer,
];
