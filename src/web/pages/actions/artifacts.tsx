import type { Context } from "hono";

import type { WorkflowArtifact } from "../../../db/schema/index.ts";
import { deleteArtifact } from "../../../domain/actions/artifacts/delete-artifact.ts";
import {
  findArtifact,
  findStoredArtifact,
} from "../../../domain/actions/artifacts/find-artifact.ts";
import type { ShownRun } from "../../../domain/actions/runs/read-run.ts";
import { answerArtifact } from "../../../entrance/answer-artifact.ts";
import { notFound } from "../../../lib/failure.ts";
import { isFinal } from "../../../shapes/actions/work-status.ts";
import type { WebEnv } from "../../env.ts";
import { Ago } from "../ago.tsx";
import { ConfirmMenu } from "../confirm-menu.tsx";
import { readForm } from "../form.ts";
import { formatBytes } from "../format-bytes.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import { canChangeRuns, enterActions, enterToChangeRuns, readRunNumber, runPath } from "./enter.ts";

interface ArtifactsProps {
  page: EnteredRepository;
  shown: ShownRun;
}

/** What the jobs of a run have stored, with the size and the end of each. */
export function Artifacts({ page, shown: { run, artifacts } }: ArtifactsProps) {
  if (artifacts.length === 0) return <></>;
  const path = `${runPath(page.repo, run)}/artifacts`;
  // As long as the run goes on, a script replaces what is shown, and would close a menu.
  const canDelete = canChangeRuns(page) && isFinal(run.state);
  return (
    <section aria-labelledby="artifacts">
      <h3 id="artifacts">Artifacts</h3>
      <ul class="box commits">
        {artifacts.map((artifact) => (
          <li>
            <ArtifactName artifact={artifact} path={path} now={page.ctx.now} />
            {canDelete ? (
              <ConfirmMenu
                label="Delete"
                subject={artifact.name}
                action={`${path}/${encodeURIComponent(artifact.name)}/delete`}
                formToken={page.formToken}
                fields={{ id: artifact.id }}
                button={`Delete ${artifact.name}`}
              >
                <p>Its files are deleted for good.</p>
              </ConfirmMenu>
            ) : undefined}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ArtifactNameProps {
  artifact: WorkflowArtifact;
  path: string;
  now: number;
}

function ArtifactName({ artifact, path, now }: ArtifactNameProps) {
  const { name, state, sizeBytes, expiresAt } = artifact;
  const size = formatBytes(sizeBytes);
  if (state === "expired" || expiresAt <= now) {
    return (
      <span class="grow">
        {name} <span class="soft">{`${size}, expired`}</span>
      </span>
    );
  }
  return (
    <span class="grow">
      <a href={`${path}/${encodeURIComponent(name)}`} download>
        {name}
      </a>{" "}
      <span class="soft">
        {`${size}, expires `}
        <Ago at={expiresAt} now={now} />
      </span>
    </span>
  );
}

/** Sends an artifact of a run, the newest of its name. */
export async function sendArtifact(c: Context<WebEnv>): Promise<Response> {
  const { ctx, repo } = await enterActions(c);
  const of = { repoId: repo.row.id, ...readPlace(c) };
  const { artifact, parts } = await findStoredArtifact(ctx, of);
  return answerArtifact(c.req.raw, ctx, artifact, parts);
}

/** Deletes the artifact that a form shows. */
export async function removeArtifact(c: Context<WebEnv>): Promise<Response> {
  const { ctx, repo } = await enterToChangeRuns(c);
  const form = await readForm(c);
  const id = form.text("id");
  if (!/^[1-9]\d{0,14}$/.test(id)) throw notFound();
  const place = readPlace(c);
  const found = await findArtifact(ctx, { repoId: repo.row.id, ...place, id: Number(id) });
  await deleteArtifact(ctx, repo, found);
  return redirectAfterWrite(c, runPath(repo, { number: place.runNumber }));
}

const readPlace = (c: Context<WebEnv>) => ({
  runNumber: readRunNumber(c.req.param("run")),
  name: c.req.param("name") ?? "",
});
