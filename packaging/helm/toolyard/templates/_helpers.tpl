{{/* The name of all that the chart makes. There is room for what is added to it, up to 63 characters. */}}
{{- define "toolyard.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) }}{{ $name = printf "%s-%s" $name .Chart.Name }}{{ end -}}
{{- $name | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{/* What a gateway's pod is known by. */}}
{{- define "toolyard.selector" -}}
app.kubernetes.io/name: toolyard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* What PostgreSQL's pod is known by. */}}
{{- define "toolyard.postgresqlSelector" -}}
app.kubernetes.io/name: postgresql
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "toolyard.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The configuration file. Pods of the cluster call the gateway by the names of its Service. */}}
{{- define "toolyard.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- if and .Values.ingress.enabled (not (hasKey $config.toolyard "publicUrl")) -}}
{{- $scheme := ternary "https" "http" (ne .Values.ingress.tlsSecret "") -}}
{{- $host := required "ingress.host is missing: the name that clients reach the gateway by" .Values.ingress.host -}}
{{- $_ := set $config.toolyard "publicUrl" (printf "%s://%s" $scheme $host) -}}
{{- end -}}
{{- if not (hasKey $config.toolyard "allowedHosts") -}}
{{- $name := include "toolyard.name" . -}}
{{- $inSpace := printf "%s.%s" $name .Release.Namespace -}}
{{- $inCluster := printf "%s.svc" $inSpace -}}
{{- $hosts := list $name $inSpace $inCluster (printf "%s.cluster.local" $inCluster) -}}
{{- $_ := set $config.toolyard "allowedHosts" $hosts -}}
{{- end -}}
{{- toPrettyJson $config -}}
{{- end }}

{{/* Its name has a hash of the file: a changed configuration replaces the pods one after the other. */}}
{{- define "toolyard.configName" -}}
{{ include "toolyard.name" . }}-{{ include "toolyard.config" . | sha256sum | trunc 10 }}
{{- end }}

{{- define "toolyard.secretName" -}}
{{ .Values.secret.name | default (include "toolyard.name" .) }}
{{- end }}

{{/* The entries of the Secret that the chart makes; nothing where it has to be there before. */}}
{{- define "toolyard.secret" -}}
{{- $given := .Values.secret -}}
{{- $own := .Values.postgresql -}}
{{- if and $own.enabled $given.database }}{{ fail "postgresql.enabled and secret.database name two databases" }}{{ end -}}
{{- if or $own.enabled $given.key $given.database $given.tokenHash -}}
TOOLYARD_KEY: {{ required "secret.key is missing: make one with `openssl rand -base64 32`" $given.key | quote }}
{{- if $own.enabled }}
{{- $password := required "postgresql.password is missing: choose one of letters and digits" $own.password }}
TOOLYARD_DATABASE: postgres://toolyard:{{ $password }}@{{ include "toolyard.name" . }}-postgresql/toolyard
{{- else }}
TOOLYARD_DATABASE: {{ required "secret.database is missing: postgres://USER:PASSWORD@HOST/DATABASE" $given.database | quote }}
{{- end }}
TOOLYARD_TOKEN_HASH: {{ required "secret.tokenHash is missing: the second line of `toolyard token new`" $given.tokenHash | quote }}
{{- end -}}
{{- end }}

{{/* noticeMs, instances.drainTimeoutMs, and 10 s for what servers take to end, in whole seconds. */}}
{{- define "toolyard.graceSeconds" -}}
{{- $settings := .Values.config.toolyard -}}
{{- $drainMs := dig "instances" "drainTimeoutMs" 25000 $settings -}}
{{- add 10 (div (add (int64 $settings.noticeMs) (int64 $drainMs) 999) 1000) -}}
{{- end }}

{{/* Nodes that there may be at most, without the one that a rolling update adds. */}}
{{- define "toolyard.mostNodes" -}}
{{- ternary .Values.autoscaling.max .Values.replicas .Values.autoscaling.enabled | int64 -}}
{{- end }}
