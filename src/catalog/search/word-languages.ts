/**
 * What tools are about, in other languages: a Chinese description is found by an English question and the other way round. One
 * group per line, all equivalent; Chinese, Japanese and Korean words of two characters, because they are indexed as pairs; words
 * that also are English ones are left out.
 */
export const foreignWords = `
search 搜索 查询 検索 검색 buscar busqueda rechercher suchen ricerca cercare поиск найти
weather 天气 天気 날씨 clima meteo wetter previsao tempo_atmosferico погода
news 新闻 资讯 快讯 要闻 뉴스 noticias actualites nachrichten notizie новости
trending 热门 热榜 热点 榜单 tendencias
ranking 排行 排名 榜单 clasificacion classement rangliste
recipe 菜谱 食谱 레시피 receta recette rezept ricetta рецепт
dish 菜品 料理 plato
movie 电影 映画 영화 pelicula filme кино фильм
book 图书 书籍 libro livre buch книга
novel 小说 novela roman
music 音乐 音楽 음악 musica musique musik музыка
song 歌曲 cancion lied песня
video 视频 動画 영상 видео
game 游戏 게임 juego jeu spiel игра
image 图片 图像 画像 imagen bild immagine изображение картинка
photo 照片 写真 사진 foto
file 文件 파일 archivo fichier datei arquivo файл
folder 目录 carpeta dossier ordner pasta папка
document 文档 文書 문서 documento dokument документ
text 文本 文字 texto texte текст
table 表格 tabla tabelle таблица
slide 幻灯 diapositiva folie
template 模板 plantilla vorlage шаблон
chart 图表 grafico diagramm диаграмма график
code 代码 コード codigo код
component 组件
icon 图标
website 网站 网页 sitio_web сайт
link 链接 enlace lien ссылка
url 网址
message 消息 信息 메시지 mensaje nachricht messaggio сообщение
email 邮件 邮箱 correo courriel почта письмо
send 发送 enviar envoyer senden inviare отправить
translate 翻译 翻訳 번역 traducir traduire ubersetzen traduci перевести перевод
translation 翻译 翻訳 번역 traduccion traduction ubersetzung traduzione перевод
calendar 日历 calendario kalender calendrier календарь
meeting 会议 会議 회의 reunion besprechung riunione встреча
time 时间 時間 시간 hora heure uhrzeit время
date 日期 日付 날짜 fecha datum дата
map 地图 地図 지도 mapa landkarte карта
address 地址 住所 주소 direccion adresse indirizzo адрес
location 位置 地点 ubicacion lieu standort место
city 城市 都市 도시 ciudad ville stadt cidade citta город
country 国家 pais pays paese страна
ticket 车票 余票 门票 boleto billet fahrkarte biglietto билет
train 火车 列车 高铁 電車 기차 tren zug treno поезд
station 车站 estacion bahnhof stazione вокзал
flight 航班 机票 항공 vuelo vol_avion flug volo рейс
hotel 酒店 宾馆 호텔 отель гостиница
restaurant 餐厅 餐馆 식당 restaurante ristorante ресторан
food 食物 美食 음식 comida nourriture essen cibo еда
travel 旅行 旅游 여행 viaje voyage reise viaggio путешествие
route 路线 ruta itineraire
nearby 附近 周边 cerca proximite рядом
price 价格 価格 가격 precio prix preis prezzo цена
stock 股票 股价 株価 주식 acciones aktie акция
currency 货币 通貨 통화 moneda devise wahrung valuta валюта
exchange 汇率 外汇
fund 基金
finance 金融 财经 finanzas finanzen
product 商品 产品 製品 상품 producto produit produkt товар
order 订单 注文 주문 pedido commande bestellung заказ
shopping 购物 compras einkaufen
user 用户 사용자 usuario utilisateur benutzer пользователь
account 账户 账号 cuenta compte konto
customer 客户 顾客 cliente kunde
company 公司 企业 会社 회사 empresa entreprise unternehmen azienda компания
employee 员工 empleado mitarbeiter сотрудник
task 任务 tarea aufgabe tache задача
todo 待办
project 项目 proyecto projekt projet проект
note 笔记 nota notiz заметка
comment 评论 comentario kommentar
create 创建 新建 作成 생성 crear creer erstellen criar creare создать
delete 删除 削除 삭제 eliminar borrar supprimer loschen cancellare удалить
update 更新 修改 actualizar aktualisieren aggiornare обновить
list 列表 목록 listar auflisten список
get 获取 取得 obtener obtenir abrufen получить
save 保存 guardar speichern enregistrer сохранить
download 下载 다운 descargar telecharger herunterladen скачать
upload 上传 subir hochladen загрузить
convert 转换 변환 convertir umrechnen umwandeln
calculate 计算 計算 계산 calcular calculer berechnen calcolare вычислить рассчитать
recommend 推荐 推薦 추천 recomendar empfehlen
generate 生成 generar generieren
analyze 分析 분석 analizar analysieren
summary 摘要 总结 要約 요약 resumen zusammenfassung riassunto
detail 详情 详细
character 角色
card 卡牌 卡片 tarjeta karte
technology 科技 技术 技術 기술 tecnologia
sport 体育 deporte
entertainment 娱乐
education 教育 educacion bildung
health 健康 건강 salud sante gesundheit здоровье
medicine 医疗 药品 medicamento medikament лекарство
hospital 医院 병원 krankenhaus больница
law 法律 recht ley
house 房产 房屋 casa maison wohnung дом квартира
car 汽车 coche voiture carro автомобиль
loan 贷款 prestamo darlehen credito кредит
payment 支付 付款 결제 pago paiement zahlung оплата
question 问题 pregunta frage вопрос
answer 回答 respuesta antwort ответ
language 语言 idioma sprache langue язык
random 随机 aleatorio zufall случайный
knowledge 知识 conocimiento wissen
database 数据库 datenbank
history 历史 历程 歴史 역사 historia geschichte storia история
horoscope 八字 运势 星座 horoscopo
lunar 农历 阴历
`;
