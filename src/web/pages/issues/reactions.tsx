import type { ReactionCount } from "../../../domain/issues/reactions/count-reactions.ts";
import { ALLOWED_REACTIONS } from "../../../shapes/issues/allowed-reactions.ts";
import { ActionForm, type Sending } from "./action-form.tsx";

type Content = (typeof ALLOWED_REACTIONS)[number];

/** Each reaction as a sign, with its name. */
const SIGNS: Readonly<Record<Content, readonly [sign: string, name: string]>> = {
  "+1": ["👍", "Thumbs up"],
  "-1": ["👎", "Thumbs down"],
  laugh: ["😄", "Laugh"],
  hooray: ["🎉", "Hooray"],
  confused: ["😕", "Confused"],
  heart: ["❤️", "Heart"],
  rocket: ["🚀", "Rocket"],
  eyes: ["👀", "Eyes"],
};

interface ReactionsProps {
  reactions: readonly ReactionCount[];
  /** Where the form of a reader is sent who may react; undefined for others. */
  sending: Sending | undefined;
  /** The comment that is reacted to; undefined for the issue itself. */
  commentId?: number;
}

/** The reactions to a text; a reader who may react adds or takes back one by a click. */
export function Reactions({ reactions, sending, commentId }: ReactionsProps) {
  if (!sending) {
    if (reactions.length === 0) return <></>;
    return (
      <ul class="reactions">
        {reactions.map(({ content, count }) => (
          <li class="reaction">
            <Sign content={content} />
            {` ${count}`}
          </li>
        ))}
      </ul>
    );
  }
  const given = new Set(reactions.filter(({ isOwn }) => isOwn).map(({ content }) => content));
  return (
    <ActionForm {...sending} action="react" class="reactions">
      {commentId === undefined ? undefined : (
        <input type="hidden" name="comment" value={commentId} />
      )}
      {reactions.map(({ content, count, isOwn }) => (
        <button
          type="submit"
          name={isOwn ? "remove" : "add"}
          value={content}
          class="reaction"
          aria-pressed={isOwn ? "true" : "false"}
        >
          <Sign content={content} />
          {` ${count}`}
        </button>
      ))}
      <details class="menu">
        <summary class="reaction" aria-label="Add a reaction">
          ☺
        </summary>
        <div class="menu-body row">
          {ALLOWED_REACTIONS.filter((content) => !given.has(content)).map((content) => (
            <button type="submit" name="add" value={content} class="reaction">
              <Sign content={content} />
            </button>
          ))}
        </div>
      </details>
    </ActionForm>
  );
}

function Sign({ content }: { content: string }) {
  const [sign, name] = SIGNS[content as Content] ?? [content, content];
  return (
    <span role="img" aria-label={name} title={name}>
      {sign}
    </span>
  );
}
