/** The way from a page to the part of the documents that is about it. */
export const HelpLink = ({ document }: { document: string }) => (
  <p class="soft">
    <a href={`/docs/${document}`}>Help about this page</a>
  </p>
);
