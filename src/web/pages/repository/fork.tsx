import { type Context, Hono } from "hono";

import type { User } from "../../../db/schema/index.ts";
import {
  findForkContext,
  listCreationOwners,
} from "../../../domain/repos/repository/find-creation-context.ts";
import { forkRepository } from "../../../domain/repos/repository/fork-repository.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import {
  DESCRIPTION_CHARS_MAX,
  GeneralFault,
  NAME_CHARS_MAX,
  OwnerField,
  repositoryFieldOf,
} from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

/** The page on which a repository is forked. */
export const fork = new Hono<WebEnv>();

fork.get("/:owner/:repo/fork", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { user } = requireOwn(c, page);
  const { name, description } = page.repo.row;
  return renderFork(c, page, user, FormState.fresh({ name, description }));
});

fork.post("/:owner/:repo/fork", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, user } = requireOwn(c, page);
  const form = await readForm(c);
  return orRefuse(
    c,
    async () => {
      const owner = form.text("owner");
      const isOwn = owner.toLowerCase() === user.lowerName;
      const creation = await findForkContext(ctx, user, isOwn ? undefined : owner);
      const forked = await forkRepository(ctx, page.repo, creation, {
        name: form.line("name", NAME_CHARS_MAX),
        description: form.line("description", DESCRIPTION_CHARS_MAX),
      });
      return redirectAfterWrite(c, repositoryPath(forked));
    },
    (refusal) => renderFork(c, page, user, FormState.refused(form, refusal)),
    repositoryFieldOf,
  );
});

/** The fields that show a refusal of their own. */
const FIELDS = ["owner", "name", "description"];

async function renderFork(
  c: Context<WebEnv>,
  page: EnteredRepository,
  user: User,
  state: FormState,
): Promise<Response> {
  const { ctx, repo, formToken } = page;
  const owners = await listCreationOwners(ctx, user);
  const others = owners.filter(({ id }) => id !== repo.owner.id);
  const names = `${repo.owner.name}/${repo.row.name}`;
  return renderRepository(
    c,
    page,
    { tab: "code", title: `Fork - ${names}`, status: state.refusal?.status ?? 200 },
    <section class="card form">
      <h2>{`Fork ${names}`}</h2>
      <p>
        A fork is a repository of your own with the same history, from which you can propose
        changes.
      </p>
      {others.length === 0 ? (
        <p>
          This repository is yours already, and you belong to no organization that could fork it.
        </p>
      ) : (
        <>
          <GeneralFault state={state} fields={FIELDS} />
          <Form action={`${repositoryPath(repo)}/fork`} formToken={formToken}>
            <OwnerField state={state} owners={others} />
            <Field label="Name" {...state.of("name")} maxlength={NAME_CHARS_MAX} isFirst />
            <Field
              label="Description"
              {...state.of("description")}
              maxlength={DESCRIPTION_CHARS_MAX}
              isOptional
            />
            <button type="submit" class="primary">
              Fork repository
            </button>
          </Form>
        </>
      )}
    </section>,
  );
}
