import type { Context } from "hono";

import {
  dispatchWorkflow,
  type Dispatchable,
  findDispatchable,
} from "../../../domain/actions/runs/start-by-hand.ts";
import type { DispatchInput } from "../../../domain/actions/workflow/workflow.ts";
import { Failure } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { CheckField, GeneralFault, SelectField } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form, Notice } from "../layout.tsx";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { listBranchNames, listTagNames } from "../repository-settings/ref-names.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { toSentence } from "../to-sentence.ts";
import { actionsPath, enterToChangeRuns, runPath } from "./enter.ts";

/** Names of branches and tags that the form offers. */
const NAMES_MAX = 200;
/** The beginning of the names of fields for inputs. */
const INPUT = "input-";
const KEY = /^[0-9a-f-]{36}$/;

/** Shows the form that starts a workflow by hand, with its inputs as a branch or tag has them. */
export async function showDispatch(c: Context<WebEnv>): Promise<Response> {
  const page = await enterToChangeRuns(c);
  return showForm(c, page, FormState.fresh());
}

/** Starts a workflow as a form says. Sent again, it leads to the same run. */
export async function sendDispatch(c: Context<WebEnv>): Promise<Response> {
  const page = await enterToChangeRuns(c);
  const form = await readForm(c);
  const { ctx, repo } = page;
  return orRefuse(
    c,
    async () => {
      const key = form.text("key");
      const found = await findDispatchable(ctx, repo, fileOf(c), refOf(c, page));
      const inputs = readInputs(form, found.workflow.dispatchInputs);
      const run = await dispatchWorkflow(ctx, repo, found, inputs, {
        ...(KEY.test(key) && { cause: `dispatch.${ctx.actor.user?.id ?? 0}.${key}` }),
      });
      return redirectAfterWrite(c, runPath(repo, run));
    },
    (refusal) => showForm(c, page, FormState.refused(form, refusal)),
    (message) => /^The input '([^']+)'/.exec(message)?.[1]?.replace(/^/, INPUT),
  );
}

const fileOf = (c: Context<WebEnv>): string => c.req.query("workflow") ?? "";

const refOf = (c: Context<WebEnv>, { repo }: EnteredRepository): string =>
  c.req.query("ref") || repo.row.defaultBranch;

const readInputs = (form: SentForm, inputs: readonly DispatchInput[]): Record<string, string> =>
  Object.fromEntries(
    inputs.map(({ name, type }) => [
      name,
      type === "boolean" ? String(form.isSet(INPUT + name)) : form.text(INPUT + name),
    ]),
  );

async function showForm(
  c: Context<WebEnv>,
  page: EnteredRepository,
  state: FormState,
): Promise<Response> {
  const { ctx, repo, formToken } = page;
  const [file, ref] = [fileOf(c), refOf(c, page)];
  const [found, branches, tags] = await Promise.all([
    findOrRefuse(ctx, repo, file, ref),
    listBranchNames(ctx, repo),
    listTagNames(ctx, repo),
  ]);
  const query = new URLSearchParams({ workflow: file, ref }).toString();
  const path = `${actionsPath(repo)}/run`;
  const title = "workflow" in found ? found.workflow.name : file;
  return renderRepository(
    c,
    page,
    {
      tab: "actions",
      title: `Run ${title} - ${repo.owner.name}/${repo.row.name}`,
      status: state.refusal?.status ?? 200,
    },
    <section class="card form">
      <h2>{`Run ${title}`}</h2>
      <form class="filters" action={path}>
        <input type="hidden" name="workflow" value={file} />
        <span class="pair">
          <label for="ref">Branch or tag</label>
          <input id="ref" name="ref" value={ref} list="refs" required spellcheck={false} />
        </span>
        <datalist id="refs">
          {[...branches, ...tags].slice(0, NAMES_MAX).map((name) => (
            <option value={name} />
          ))}
        </datalist>
        <button type="submit">Use</button>
      </form>
      {"workflow" in found ? (
        <Form action={`${path}?${query}`} formToken={formToken}>
          <GeneralFault
            state={state}
            fields={found.workflow.dispatchInputs.map(({ name }) => INPUT + name)}
          />
          <input type="hidden" name="key" value={state.form.text("key") || crypto.randomUUID()} />
          {found.workflow.dispatchInputs.map((input) => (
            <InputField input={input} state={state} />
          ))}
          <button type="submit" class="primary">
            Run workflow
          </button>
        </Form>
      ) : (
        <Notice kind="error">{found.reason}</Notice>
      )}
    </section>,
  );
}

/** The workflow at a ref, or why it can't be started there: another ref may serve. */
async function findOrRefuse(
  ...named: Parameters<typeof findDispatchable>
): Promise<Dispatchable | { readonly reason: string }> {
  try {
    return await findDispatchable(...named);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const isAway = error.kind === "not_found";
    return { reason: isAway ? "The workflow is not there." : toSentence(error.message) };
  }
}

function InputField({ input, state }: { input: DispatchInput; state: FormState }) {
  const { type, description, isRequired, options = [] } = input;
  const name = INPUT + input.name;
  const label = description || input.name;
  const preset = input.default ?? "";
  const value = state.valueOf(name, preset);
  if (type === "boolean") {
    return <CheckField state={state} label={label} name={name} isSetAtFirst={preset === "true"} />;
  }
  if (type === "choice") {
    const { fault } = state.of(name);
    const shown = FormState.fresh(
      { [name]: value },
      fault === undefined ? undefined : state.refusal,
    );
    const none = isRequired && preset !== "" ? [] : ([["", "None"]] as const);
    return (
      <SelectField
        state={shown}
        label={label}
        name={name}
        options={[...none, ...options.map((option) => [option, option] as const)]}
      />
    );
  }
  return (
    <Field
      label={label}
      {...state.of(name)}
      value={value}
      isOptional={!isRequired || preset !== ""}
      hint={type === "number" ? "A number." : undefined}
    />
  );
}
