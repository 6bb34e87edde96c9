import "./settings/zod-setting.ts";
import { AppBridge, PostMessageTransport, type McpUiHostContext } from "@modelcontextprotocol/ext-apps/app-bridge";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { api, rawFetch, valueOf, type Schemas } from "../api/client.ts";
import { problemOf } from "../api/failure.ts";
import { sandboxUrl, toAppPolicy, withPolicy, type AppMeta } from "../words/app-policy.ts";
import { memberText } from "../words/text/exact-json.ts";
import { plain } from "../words/format.ts";
import { Button } from "./basic/button.tsx";
import { Modal } from "./forms/confirm.tsx";
import { Section } from "./page.tsx";
import { FailureNote, Loaded } from "./basic/states.tsx";

interface AppFrameProps {
  readonly tool: Schemas["ToolDetails"];
  readonly uri: string;
  /** The arguments of the call, and its answer once it is there, as texts. */
  readonly sent: string;
  readonly answer: string | undefined;
}

interface AppPage {
  readonly html: string;
  readonly meta: AppMeta;
}

const pageType = /^text\/html\s*;\s*profile=mcp-app$/i;

/** The page that a tool brings along (MCP Apps), in a frame that can reach nothing of this one. */
export function AppFrame(props: AppFrameProps) {
  const { tool, uri } = props;
  const page = useQuery({
    queryKey: ["app", tool.server, uri],
    queryFn: async () => await readPage(tool.server, uri),
    staleTime: 60_000,
  });
  return (
    <Section title="Its page" about={<code>{plain(uri)}</code>}>
      <Loaded query={page}>{(found) => <AskedFrame {...props} page={found} />}</Loaded>
    </Section>
  );
}

async function readPage(server: string, uri: string): Promise<AppPage> {
  const answer = await valueOf(api.GET("/api/resources/read", { params: { query: { uri: `${server}|${uri}` } } }));
  const [content] = answer.contents as readonly {
    readonly text?: string;
    readonly blob?: string;
    readonly mimeType?: string;
    readonly _meta?: { readonly ui?: AppMeta };
  }[];
  if (content === undefined || !pageType.test(content.mimeType ?? ""))
    throw new Error(`${uri} is no page of the kind text/html;profile=mcp-app`);
  const bytes = Uint8Array.from(atob(content.blob ?? ""), (character) => character.charCodeAt(0));
  return { html: content.text ?? new TextDecoder().decode(bytes), meta: content._meta?.ui ?? {} };
}

/** A page that wants to reach other hosts is shown only when somebody has agreed to these. */
function AskedFrame(props: AppFrameProps & { readonly page: AppPage }) {
  // A later reading neither restarts the page in use, nor gives it rights that the person did not agree to.
  const [{ tool, page }] = useState(props);
  const policy = toAppPolicy(page.meta);
  const [isAllowed, setAllowed] = useState(policy.reaches.length === 0);
  return (
    <>
      {policy.refused.length > 0 && (
        <p className="muted">It is not given what it also asked for: {plain(policy.refused.join(", "))}.</p>
      )}
      {isAllowed ? (
        <Frame {...props} tool={tool} page={page} policy={policy.text} />
      ) : (
        <div className="note warn">
          <div className="grow">
            <p>
              This page wants to reach {plain(policy.reaches.join(", "))}. What it knows of the call could go there.
            </p>
            <Button onClick={() => setAllowed(true)}>Show it all the same</Button>
          </div>
        </div>
      )}
    </>
  );
}

/** Something that the page wants and a person decides. */
interface Wish {
  readonly title: string;
  readonly text: string;
  readonly settle: (isAllowed: boolean) => void;
}

/** For how long nothing is asked after an answer: a second click must not answer a question that is still unread. */
const restMs = 1_000;
const heights = { least: 60, first: 240, most: 1_600 };

function Frame({
  tool,
  sent,
  answer,
  page,
  policy,
}: AppFrameProps & { readonly page: AppPage; readonly policy: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(heights.first);
  const [wish, setWish] = useState<Wish>();
  const [said, setSaid] = useState<readonly string[]>([]);
  const [failure, setFailure] = useState<unknown>();
  const [bridge, setBridge] = useState<AppBridge>();
  const open = useRef<Wish>(undefined);
  const answeredMs = useRef(Number.NEGATIVE_INFINITY);
  /** One question at a time: the page must not put another one under the button that somebody is about to press. */
  const ask = useCallback(async (title: string, text: string): Promise<boolean> => {
    if (open.current !== undefined) return false;
    return await new Promise((resolve) => {
      const next: Wish = {
        title,
        text,
        settle(isAllowed) {
          if (open.current !== next) return;
          open.current = undefined;
          answeredMs.current = performance.now();
          setWish(undefined);
          resolve(isAllowed);
        },
      };
      open.current = next;
      const show = (): void => {
        if (open.current === next) setWish(next);
      };
      setTimeout(show, Math.max(0, answeredMs.current + restMs - performance.now()));
    });
  }, []);

  useEffect(() => {
    const target = frame.current?.contentWindow;
    if (target == null) return undefined;
    const host = new AppBridge(
      null,
      { name: "toolyard", version: "1" },
      { serverTools: {}, serverResources: {}, openLinks: {}, logging: {} },
      { hostContext: hostContext(tool) },
    );
    host.onsandboxready = () => void host.sendSandboxResourceReady({ html: withPolicy(page.html, policy) });
    host.oninitialized = () => setBridge(host);
    host.onsizechange = ({ height: wanted }) => {
      if (wanted !== undefined) setHeight(Math.min(heights.most, Math.max(heights.least, Math.ceil(wanted))));
    };
    // It answers a request: no event, which could have many listeners.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    host.onmessage = async ({ content }) => {
      const texts = content.map((block) => (block.type === "text" ? block.text : `(${block.type})`));
      setSaid((now) => [...now, texts.join(" ")].slice(-20));
      return await Promise.resolve({});
    };
    host.onopenlink = async ({ url }) => {
      if (!/^https?:\/\//i.test(url) || !(await ask("Open this address?", url))) return { isError: true };
      window.open(url, "_blank", "noopener,noreferrer");
      return {};
    };
    host.oncalltool = async ({ name, arguments: given = {} }) => {
      const path = `${tool.server}:${name}`;
      const own = await valueOf(api.GET("/api/tools/{path}", { params: { path: { path } } }));
      const { visibility } = (own.definition["_meta"] as { ui?: { visibility?: unknown } } | undefined)?.ui ?? {};
      if (own.server !== tool.server || (Array.isArray(visibility) && !visibility.includes("app")))
        throw new Error(`${name} is not for pages`);
      const isReading =
        (own.definition["annotations"] as { readOnlyHint?: unknown } | undefined)?.readOnlyHint === true;
      const text = JSON.stringify(given, undefined, 2);
      if (!isReading && !(await ask(`The page wants to call ${path}`, text)))
        throw new Error("the person who uses this page has refused the call");
      return resultOf(await execute(path, text)) as never;
    };
    host.onreadresource = async ({ uri }) => {
      const query = { uri: `${tool.server}|${uri}` };
      return (await valueOf(api.GET("/api/resources/read", { params: { query } }))) as never;
    };
    host.connect(new PostMessageTransport(target, target)).catch(setFailure);
    return () => {
      open.current?.settle(false);
      setBridge(undefined);
      void host.close();
    };
  }, [ask, page.html, policy, tool]);

  useEffect(() => {
    void bridge?.sendToolInput({ arguments: argumentsOf(sent) });
  }, [bridge, sent]);
  useEffect(() => {
    if (answer !== undefined) void bridge?.sendToolResult(resultOf(answer) as never);
  }, [bridge, answer]);

  return (
    <>
      <iframe
        ref={frame}
        className="app-frame"
        title={`Page of ${plain(tool.tool_path)}`}
        src={sandboxUrl(location)}
        sandbox="allow-scripts allow-forms"
        referrerPolicy="no-referrer"
        style={{ height }}
      />
      {failure !== undefined && <FailureNote error={failure} />}
      {said.map((text, at) => (
        <p key={at} className="note">
          It would tell the model: {plain(text)}
        </p>
      ))}
      <Modal
        title={plain(wish?.title ?? "")}
        isOpen={wish !== undefined}
        onClose={() => wish?.settle(false)}
        actions={
          <Button look="main" onClick={() => wish?.settle(true)}>
            Allow
          </Button>
        }
      >
        <pre tabIndex={0} className="wrap">
          {plain(wish?.text ?? "")}
        </pre>
      </Modal>
    </>
  );
}

/** The text may be no JSON object: the gateway says so, and the page gets nothing. */
function argumentsOf(sent: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(sent);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

function hostContext({ definition }: Schemas["ToolDetails"]): McpUiHostContext {
  return {
    toolInfo: { tool: definition as never },
    theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    displayMode: "inline",
    availableDisplayModes: ["inline"],
    containerDimensions: { maxHeight: heights.most },
    locale: navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    platform: "web",
  };
}

async function execute(path: string, body: string): Promise<string> {
  const response = await rawFetch(`/execute/${encodeURIComponent(path)}`, { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw problemOf(response.status, JSON.parse(text));
  return text;
}

/** The tool's result within an answer of the gateway. A page is written in JavaScript: it gets JavaScript's numbers. */
function resultOf(answer: string): object {
  const result = memberText(answer, "result");
  if (result !== undefined) return JSON.parse(result) as object;
  const { message = "the server answered with an error" } = JSON.parse(memberText(answer, "error") ?? "{}") as {
    readonly message?: string;
  };
  return { isError: true, content: [{ type: "text", text: message }] };
}
