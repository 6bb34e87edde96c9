import airbnb from "../phrases/airbnb.txt";
import airtable from "../phrases/airtable.txt";
import amap from "../phrases/amap.txt";
import antvChart from "../phrases/antv-chart.txt";
import asana from "../phrases/asana.txt";
import awsKb from "../phrases/aws-kb.txt";
import azure from "../phrases/azure.txt";
import bitbucket from "../phrases/bitbucket.txt";
import braveSearch from "../phrases/brave-search.txt";
import braveSearchReference from "../phrases/brave-search-reference.txt";
import brightdata from "../phrases/brightdata.txt";
import browserTools from "../phrases/browser-tools.txt";
import browserbase from "../phrases/browserbase.txt";
import browsermcp from "../phrases/browsermcp.txt";
import browserstack from "../phrases/browserstack.txt";
import chromeDevtools from "../phrases/chrome-devtools.txt";
import circleci from "../phrases/circleci.txt";
import clarity from "../phrases/clarity.txt";
import claudeCode from "../phrases/claude-code.txt";
import cloudRun from "../phrases/cloud-run.txt";
import cloudflare from "../phrases/cloudflare.txt";
import cloudinary from "../phrases/cloudinary.txt";
import codeRunner from "../phrases/code-runner.txt";
import context7 from "../phrases/context7.txt";
import datadog from "../phrases/datadog.txt";
import deepwiki from "../phrases/deepwiki.txt";
import desktopCommander from "../phrases/desktop-commander.txt";
import digitalocean from "../phrases/digitalocean.txt";
import echarts from "../phrases/echarts.txt";
import edgeone from "../phrases/edgeone.txt";
import elasticsearch from "../phrases/elasticsearch.txt";
import eslint from "../phrases/eslint.txt";
import everart from "../phrases/everart.txt";
import everything from "../phrases/everything.txt";
import exa from "../phrases/exa.txt";
import excel from "../phrases/excel.txt";
import executeautomationPlaywright from "../phrases/executeautomation-playwright.txt";
import fetcher from "../phrases/fetcher.txt";
import figma from "../phrases/figma.txt";
import filesystem from "../phrases/filesystem.txt";
import firecrawl from "../phrases/firecrawl.txt";
import gcloud from "../phrases/gcloud.txt";
import gdrive from "../phrases/gdrive.txt";
import gemini from "../phrases/gemini.txt";
import git from "../phrases/git.txt";
import github from "../phrases/github.txt";
import gitlab from "../phrases/gitlab.txt";
import gitlabCommunity from "../phrases/gitlab-community.txt";
import gmail from "../phrases/gmail.txt";
import googleCalendar from "../phrases/google-calendar.txt";
import googleMaps from "../phrases/google-maps.txt";
import hubspot from "../phrases/hubspot.txt";
import hyperbrowser from "../phrases/hyperbrowser.txt";
import iosSimulator from "../phrases/ios-simulator.txt";
import jira from "../phrases/jira.txt";
import kubernetes from "../phrases/kubernetes.txt";
import kubernetesContainers from "../phrases/kubernetes-containers.txt";
import lark from "../phrases/lark.txt";
import launchdarkly from "../phrases/launchdarkly.txt";
import line from "../phrases/line.txt";
import mapbox from "../phrases/mapbox.txt";
import memory from "../phrases/memory.txt";
import mermaid from "../phrases/mermaid.txt";
import mobile from "../phrases/mobile.txt";
import mongodb from "../phrases/mongodb.txt";
import mui from "../phrases/mui.txt";
import n8n from "../phrases/n8n.txt";
import neon from "../phrases/neon.txt";
import netlify from "../phrases/netlify.txt";
import nextDevtools from "../phrases/next-devtools.txt";
import notion from "../phrases/notion.txt";
import nx from "../phrases/nx.txt";
import pdf from "../phrases/pdf.txt";
import perplexity from "../phrases/perplexity.txt";
import pinecone from "../phrases/pinecone.txt";
import playwright from "../phrases/playwright.txt";
import postgres from "../phrases/postgres.txt";
import postman from "../phrases/postman.txt";
import puppeteer from "../phrases/puppeteer.txt";
import ragWebBrowser from "../phrases/rag-web-browser.txt";
import ref from "../phrases/ref.txt";
import repomix from "../phrases/repomix.txt";
import sanity from "../phrases/sanity.txt";
import searxng from "../phrases/searxng.txt";
import sentry from "../phrases/sentry.txt";
import sequentialThinking from "../phrases/sequential-thinking.txt";
import shadcn from "../phrases/shadcn.txt";
import shadcnUi from "../phrases/shadcn-ui.txt";
import shopifyDev from "../phrases/shopify-dev.txt";
import shrimpTasks from "../phrases/shrimp-tasks.txt";
import slack from "../phrases/slack.txt";
import ssh from "../phrases/ssh.txt";
import taskMaster from "../phrases/task-master.txt";
import taskmanager from "../phrases/taskmanager.txt";
import tavily from "../phrases/tavily.txt";
import terraform from "../phrases/terraform.txt";
import trello from "../phrases/trello.txt";
import xcodebuild from "../phrases/xcodebuild.txt";
import xero from "../phrases/xero.txt";
import youtubeTranscript from "../phrases/youtube-transcript.txt";

/** What the phrase book says, one text per server. Loaded with the first index: a start has no use for it. */
export const phraseTexts: readonly string[] = [
  airbnb,
  airtable,
  amap,
  antvChart,
  asana,
  awsKb,
  azure,
  bitbucket,
  braveSearch,
  braveSearchReference,
  brightdata,
  browserTools,
  browserbase,
  browsermcp,
  browserstack,
  chromeDevtools,
  circleci,
  clarity,
  claudeCode,
  cloudRun,
  cloudflare,
  cloudinary,
  codeRunner,
  context7,
  datadog,
  deepwiki,
  desktopCommander,
  digitalocean,
  echarts,
  edgeone,
  elasticsearch,
  eslint,
  everart,
  everything,
  exa,
  excel,
  executeautomationPlaywright,
  fetcher,
  figma,
  filesystem,
  firecrawl,
  gcloud,
  gdrive,
  gemini,
  git,
  github,
  gitlab,
  gitlabCommunity,
  gmail,
  googleCalendar,
  googleMaps,
  hubspot,
  hyperbrowser,
  iosSimulator,
  jira,
  kubernetes,
  kubernetesContainers,
  lark,
  launchdarkly,
  line,
  mapbox,
  memory,
  mermaid,
  mobile,
  mongodb,
  mui,
  n8n,
  neon,
  netlify,
  nextDevtools,
  notion,
  nx,
  pdf,
  perplexity,
  pinecone,
  playwright,
  postgres,
  postman,
  puppeteer,
  ragWebBrowser,
  ref,
  repomix,
  sanity,
  searxng,
  sentry,
  sequentialThinking,
  shadcn,
  shadcnUi,
  shopifyDev,
  shrimpTasks,
  slack,
  ssh,
  taskMaster,
  taskmanager,
  tavily,
  terraform,
  trello,
  xcodebuild,
  xero,
  youtubeTranscript,
];
